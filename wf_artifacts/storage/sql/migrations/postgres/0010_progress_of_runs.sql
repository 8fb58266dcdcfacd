ALTER TABLE wf_journal ADD COLUMN journal_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE wf_lost_journal ADD COLUMN journal_bytes BIGINT;
UPDATE wf_journal SET crc32 = NULL;
CREATE VIEW wf_run_progress AS
SELECT
    head.run,
    head.fence,
    head.owner,
    GREATEST(
        head.trace_count,
        (SELECT first_entry + entries FROM wf_journal WHERE run = head.run ORDER BY position DESC LIMIT 1)
    ) AS trace_count,
    GREATEST(
        head.steps_executed,
        (SELECT steps_executed FROM wf_journal WHERE run = head.run ORDER BY position DESC LIMIT 1)
    ) AS steps_executed,
    GREATEST(
        head.position,
        (SELECT position FROM wf_journal WHERE run = head.run ORDER BY position DESC LIMIT 1)
    ) AS position,
    GREATEST(
        head.journal_bytes,
        (SELECT journal_bytes FROM wf_journal WHERE run = head.run ORDER BY position DESC LIMIT 1)
    ) AS journal_bytes
FROM wf_run_heads AS head;
