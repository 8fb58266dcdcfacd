DROP VIEW wf_run_progress;
CREATE TABLE wf_inputs (
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    steps_executed INTEGER NOT NULL,
    lines BLOB NOT NULL,
    first_entry INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    crc32 INTEGER,
    journal_bytes INTEGER NOT NULL,
    number INTEGER PRIMARY KEY CHECK (number = (run << 32) + position)
);
INSERT INTO wf_inputs
SELECT run, position, steps_executed, lines, first_entry, entries, crc32, journal_bytes, (run << 32) + position
FROM wf_journal;
DROP TABLE wf_journal;
CREATE TRIGGER wf_runs_and_inputs AFTER DELETE ON wf_runs BEGIN
    DELETE FROM wf_inputs WHERE number BETWEEN (OLD.number << 32) AND (OLD.number << 32) + 4294967295; END;
ALTER TABLE wf_lost_journal RENAME TO wf_lost_inputs;
ALTER TABLE wf_lost_inputs ADD COLUMN number INTEGER;
CREATE VIEW wf_run_progress AS
SELECT
    head.run,
    head.fence,
    head.owner,
    MAX(head.trace_count, COALESCE(
        (
            SELECT first_entry + entries FROM wf_inputs
            WHERE number BETWEEN (head.run << 32) AND (head.run << 32) + 4294967295 ORDER BY number DESC LIMIT 1
        ),
        0
    )) AS trace_count,
    MAX(head.steps_executed, COALESCE(
        (
            SELECT steps_executed FROM wf_inputs
            WHERE number BETWEEN (head.run << 32) AND (head.run << 32) + 4294967295 ORDER BY number DESC LIMIT 1
        ),
        0
    )) AS steps_executed,
    NULLIF(MAX(COALESCE(head.position, 0), COALESCE(
        (
            SELECT position FROM wf_inputs
            WHERE number BETWEEN (head.run << 32) AND (head.run << 32) + 4294967295 ORDER BY number DESC LIMIT 1
        ),
        0
    )), 0) AS position,
    MAX(head.journal_bytes, COALESCE(
        (
            SELECT journal_bytes FROM wf_inputs
            WHERE number BETWEEN (head.run << 32) AND (head.run << 32) + 4294967295 ORDER BY number DESC LIMIT 1
        ),
        0
    )) AS journal_bytes
FROM wf_run_heads AS head;
