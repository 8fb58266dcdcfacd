ALTER TABLE wf_session_events ADD COLUMN crc32 INTEGER;
ALTER TABLE wf_lost_session_events ADD COLUMN crc32 INTEGER;
