ALTER TABLE wf_journal RENAME TO wf_inputs;
ALTER TABLE wf_lost_journal RENAME TO wf_lost_inputs;
