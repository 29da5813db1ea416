-- What the steps of a turn did and the machine's limits then, as JSON of app/ (the record's key "work"); empty: turns older than the counters.
ALTER TABLE turn ADD COLUMN work TEXT NOT NULL DEFAULT '';
