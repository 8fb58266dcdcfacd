UPDATE wf_journal SET line = CONVERT_TO(
    '{"position":' || position || ',"input":' || CONVERT_FROM(line, 'UTF8') || ',"trace":[' || COALESCE(
        (SELECT STRING_AGG(CONVERT_FROM(entry, 'UTF8'), ',' ORDER BY number) FROM wf_trace
            WHERE wf_trace.run = wf_journal.run
            AND number >= wf_journal.first_entry AND number < wf_journal.first_entry + wf_journal.entries), ''
    ) || ']}', 'UTF8'
);
DELETE FROM wf_trace USING wf_journal
    WHERE wf_journal.run = wf_trace.run
    AND wf_trace.number >= first_entry AND wf_trace.number < first_entry + entries;
ALTER TABLE wf_journal RENAME COLUMN line TO lines;
ALTER TABLE wf_lost_journal RENAME COLUMN line TO lines;
