UPDATE wf_journal SET line = CAST(
    '{"position":' || position || ',"input":' || CAST(line AS TEXT) || ',"trace":[' || COALESCE(
        (SELECT GROUP_CONCAT(made.entry, ',') FROM (
            SELECT CAST(entry AS TEXT) AS entry FROM wf_trace
            WHERE wf_trace.run = wf_journal.run
            AND number >= wf_journal.first_entry AND number < wf_journal.first_entry + wf_journal.entries
            ORDER BY number
        ) AS made), ''
    ) || ']}' AS BLOB
);
DELETE FROM wf_trace WHERE EXISTS (
    SELECT 1 FROM wf_journal
    WHERE wf_journal.run = wf_trace.run
    AND wf_trace.number >= first_entry AND wf_trace.number < first_entry + entries
);
ALTER TABLE wf_journal RENAME COLUMN line TO lines;
ALTER TABLE wf_lost_journal RENAME COLUMN line TO lines;
