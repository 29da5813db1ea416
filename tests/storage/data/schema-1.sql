-- Schema 1 as released. Never edited: later versions must migrate from exactly this.
-- Statements end with a semicolon at the end of a line and are separated by an empty line; triggers have none inside.
CREATE TABLE folder (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE chat (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  folder_id TEXT REFERENCES folder(id) ON DELETE SET NULL,
  model_path TEXT NOT NULL,
  model_name TEXT NOT NULL,
  settings TEXT NOT NULL,
  draft TEXT NOT NULL,
  now_iso TEXT NOT NULL,
  pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
  created_ms INTEGER NOT NULL,
  last_used_ms INTEGER NOT NULL,
  deleted_at_ms INTEGER
) STRICT;

CREATE INDEX chat_by_use ON chat(deleted_at_ms, last_used_ms);

CREATE INDEX chat_by_folder ON chat(folder_id);

-- seq is the order of creation and the row id the search index refers to. No cascade along parent_id: a chat of 2 000 messages is deeper
-- than SQLite's limit for nested triggers.
CREATE TABLE message (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  chat_id TEXT NOT NULL REFERENCES chat(id) ON DELETE CASCADE,
  parent_id TEXT REFERENCES message(id) DEFERRABLE INITIALLY DEFERRED,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'notice')),
  text TEXT NOT NULL,
  thinking_text TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('done', 'streaming', 'interrupted', 'stopped', 'length', 'context_full', 'error')),
  error TEXT NOT NULL,
  model_name TEXT NOT NULL,
  generated_ids BLOB NOT NULL,
  created_ms INTEGER NOT NULL,
  selected INTEGER NOT NULL CHECK (selected IN (0, 1))
) STRICT;

CREATE INDEX message_by_chat ON message(chat_id, seq);

CREATE INDEX message_by_parent ON message(parent_id);

CREATE INDEX message_streaming ON message(state) WHERE state = 'streaming';

CREATE UNIQUE INDEX message_one_selected ON message(chat_id, ifnull(parent_id, '')) WHERE selected = 1;

CREATE TABLE message_attachment (
  message_id TEXT NOT NULL REFERENCES message(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (message_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE turn (
  message_id TEXT PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
  chat_id TEXT NOT NULL REFERENCES chat(id) ON DELETE CASCADE,
  turn INTEGER NOT NULL,
  finished_ms INTEGER NOT NULL,
  model TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  backend TEXT NOT NULL,
  finish_reason TEXT NOT NULL,
  settings TEXT NOT NULL,
  input_total INTEGER,
  input_cached INTEGER,
  input_fresh INTEGER,
  output INTEGER,
  thinking INTEGER,
  ttft_ms REAL,
  predicted_ttft_ms REAL,
  queue_ms REAL,
  prefill_ms REAL,
  decode_ms REAL,
  total_ms REAL,
  prefill_tps REAL,
  decode_tps REAL,
  load_ms REAL,
  thinking_ms REAL,
  restore_ms REAL,
  stop_ms REAL,
  itl_p50_ms REAL,
  itl_p95_ms REAL,
  itl_max_ms REAL,
  batch_mean REAL,
  tps_start REAL,
  tps_end REAL,
  kv_tokens INTEGER NOT NULL,
  kv_bytes INTEGER,
  context INTEGER NOT NULL,
  passes INTEGER NOT NULL,
  cache_enabled INTEGER NOT NULL CHECK (cache_enabled IN (0, 1)),
  cache_outcome TEXT NOT NULL,
  from_gpu INTEGER NOT NULL,
  from_ram INTEGER NOT NULL,
  from_disk INTEGER NOT NULL,
  reusable INTEGER NOT NULL,
  reused INTEGER NOT NULL,
  miss_cause TEXT NOT NULL,
  miss_at_token INTEGER,
  miss_message INTEGER,
  miss_turn_first INTEGER,
  miss_turn_last INTEGER,
  miss_was TEXT NOT NULL,
  miss_is TEXT NOT NULL,
  miss_setting TEXT NOT NULL,
  miss_from TEXT NOT NULL,
  miss_to TEXT NOT NULL,
  miss_evicted_by TEXT NOT NULL,
  miss_by_chat TEXT NOT NULL,
  miss_when TEXT NOT NULL,
  miss_tier TEXT NOT NULL,
  miss_refusal TEXT NOT NULL,
  miss_detail TEXT NOT NULL,
  miss_where TEXT NOT NULL,
  drafted INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  bytes_read_decode REAL,
  gb_per_s_decode REAL,
  gop_per_s_prefill REAL,
  percent_prefill REAL,
  percent_decode REAL,
  book TEXT NOT NULL,
  priced_as TEXT NOT NULL,
  cost_pico TEXT,
  cost_currency TEXT NOT NULL,
  cost_error TEXT NOT NULL,
  if_cached_min_pico TEXT,
  if_cached_max_pico TEXT,
  if_cached_rule TEXT NOT NULL,
  own_joules REAL,
  own_source TEXT NOT NULL,
  own_kwh_price TEXT NOT NULL,
  own_currency TEXT NOT NULL,
  own_cost_pico TEXT,
  logits_sha TEXT NOT NULL,
  warnings TEXT NOT NULL
) STRICT;

CREATE INDEX turn_by_chat ON turn(chat_id);

CREATE TABLE turn_segment (
  message_id TEXT NOT NULL REFERENCES turn(message_id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (message_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE turn_cost_line (
  message_id TEXT NOT NULL REFERENCES turn(message_id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  bucket TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  price TEXT NOT NULL,
  cost_pico TEXT NOT NULL,
  PRIMARY KEY (message_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE turn_sample (
  message_id TEXT NOT NULL REFERENCES turn(message_id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  tokens_per_second REAL NOT NULL,
  PRIMARY KEY (message_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshot (
  file TEXT PRIMARY KEY,
  chat_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  last_use_ms INTEGER NOT NULL,
  pinned INTEGER NOT NULL CHECK (pinned IN (0, 1))
) STRICT;

CREATE TABLE model_file (
  path TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  info TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  modified_ms INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE price_book (
  name TEXT NOT NULL,
  as_of TEXT NOT NULL,
  source TEXT NOT NULL,
  json TEXT NOT NULL,
  loaded_ms INTEGER NOT NULL,
  PRIMARY KEY (name, as_of)
) STRICT;

CREATE TABLE energy_profile (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  idle_watts REAL,
  busy_watts REAL,
  kwh_price TEXT NOT NULL,
  currency TEXT NOT NULL,
  source TEXT NOT NULL
) STRICT;

CREATE TABLE setting (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

-- What is searched: everything but answers still being written. The index is only ever derived from this view.
CREATE VIEW message_searched AS SELECT seq, text FROM message WHERE state <> 'streaming';

CREATE VIRTUAL TABLE message_fts USING fts5(text, content='message_searched', content_rowid='seq', tokenize='unicode61 remove_diacritics 2');

CREATE TRIGGER message_fts_insert AFTER INSERT ON message WHEN new.state <> 'streaming' BEGIN
  INSERT INTO message_fts(rowid, text) VALUES (new.seq, new.text);
END;

CREATE TRIGGER message_fts_delete AFTER DELETE ON message WHEN old.state <> 'streaming' BEGIN
  INSERT INTO message_fts(message_fts, rowid, text) VALUES ('delete', old.seq, old.text);
END;

CREATE TRIGGER message_fts_update AFTER UPDATE OF text, state ON message BEGIN
  INSERT INTO message_fts(message_fts, rowid, text) SELECT 'delete', old.seq, old.text WHERE old.state <> 'streaming';
  INSERT INTO message_fts(rowid, text) SELECT new.seq, new.text WHERE new.state <> 'streaming';
END;

PRAGMA application_id = 1413960532;

PRAGMA user_version = 1;

