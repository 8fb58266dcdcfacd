CREATE TABLE wf_owners (
    owner TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE wf_runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL UNIQUE,
    principal BLOB NOT NULL,
    deployment_id TEXT NOT NULL,
    status TEXT NOT NULL,
    idempotency_key BLOB UNIQUE,
    record BLOB NOT NULL
);
CREATE INDEX wf_runs_of_principal ON wf_runs (principal, run_id);
CREATE INDEX wf_runs_of_principal_by_status ON wf_runs (principal, status, run_id);
CREATE INDEX wf_runs_of_principal_by_deployment ON wf_runs (principal, deployment_id, run_id);
CREATE INDEX wf_runs_by_status ON wf_runs (status, run_id);
CREATE TABLE wf_run_heads (
    run INTEGER PRIMARY KEY REFERENCES wf_runs ON DELETE CASCADE,
    fence INTEGER NOT NULL,
    owner TEXT,
    trace_count INTEGER NOT NULL,
    steps_executed INTEGER NOT NULL,
    position INTEGER,
    journal_bytes INTEGER NOT NULL
);
CREATE TABLE wf_environments (
    run INTEGER PRIMARY KEY REFERENCES wf_runs ON DELETE CASCADE,
    digest TEXT NOT NULL,
    document BLOB NOT NULL
);
CREATE TABLE wf_checkpoints (
    run INTEGER PRIMARY KEY REFERENCES wf_runs ON DELETE CASCADE,
    document BLOB NOT NULL,
    state BLOB NOT NULL
);
CREATE TABLE wf_journal (
    run INTEGER NOT NULL REFERENCES wf_runs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    steps_executed INTEGER NOT NULL,
    line BLOB NOT NULL,
    first_entry INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (run, position)
);
CREATE TABLE wf_trace (
    run INTEGER NOT NULL REFERENCES wf_runs ON DELETE CASCADE,
    number INTEGER NOT NULL,
    entry BLOB NOT NULL,
    PRIMARY KEY (run, number)
);
