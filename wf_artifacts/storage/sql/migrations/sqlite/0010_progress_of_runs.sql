ALTER TABLE wf_journal ADD COLUMN journal_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE wf_lost_journal ADD COLUMN journal_bytes INTEGER;
UPDATE wf_journal SET crc32 = NULL;
CREATE VIEW wf_run_progress AS
SELECT
    head.run,
    head.fence,
    head.owner,
    MAX(head.trace_count, COALESCE(
        (SELECT first_entry + entries FROM wf_journal WHERE run = head.run ORDER BY position DESC LIMIT 1),
        0
    )) AS trace_count,
    MAX(head.steps_executed, COALESCE(
        (SELECT steps_executed FROM wf_journal WHERE run = head.run ORDER BY position DESC LIMIT 1),
        0
    )) AS steps_executed,
    NULLIF(MAX(COALESCE(head.position, 0), COALESCE(
        (SELECT position FROM wf_journal WHERE run = head.run ORDER BY position DESC LIMIT 1),
        0
    )), 0) AS position,
    MAX(head.journal_bytes, COALESCE(
        (SELECT journal_bytes FROM wf_journal WHERE run = head.run ORDER BY position DESC LIMIT 1),
        0
    )) AS journal_bytes
FROM wf_run_heads AS head;
