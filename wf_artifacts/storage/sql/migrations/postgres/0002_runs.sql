CREATE FUNCTION wf_now() RETURNS BIGINT LANGUAGE sql VOLATILE
AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint';
CREATE TABLE wf_owners (
    owner TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE TABLE wf_runs (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id TEXT COLLATE "C" NOT NULL UNIQUE,
    principal BYTEA NOT NULL,
    deployment_id TEXT NOT NULL,
    status TEXT NOT NULL,
    idempotency_key BYTEA UNIQUE,
    record BYTEA NOT NULL
);
CREATE INDEX wf_runs_of_principal ON wf_runs (principal, run_id);
CREATE INDEX wf_runs_of_principal_by_status ON wf_runs (principal, status, run_id);
CREATE INDEX wf_runs_of_principal_by_deployment ON wf_runs (principal, deployment_id, run_id);
CREATE INDEX wf_runs_by_status ON wf_runs (status, run_id);
CREATE TABLE wf_run_heads (
    run BIGINT PRIMARY KEY REFERENCES wf_runs ON DELETE CASCADE,
    fence BIGINT NOT NULL,
    owner TEXT,
    trace_count BIGINT NOT NULL,
    steps_executed BIGINT NOT NULL,
    position BIGINT,
    journal_bytes BIGINT NOT NULL
);
CREATE TABLE wf_environments (
    run BIGINT PRIMARY KEY REFERENCES wf_runs ON DELETE CASCADE,
    digest TEXT NOT NULL,
    document BYTEA NOT NULL
);
CREATE TABLE wf_checkpoints (
    run BIGINT PRIMARY KEY REFERENCES wf_runs ON DELETE CASCADE,
    document BYTEA NOT NULL,
    state BYTEA NOT NULL
);
CREATE TABLE wf_journal (
    run BIGINT NOT NULL REFERENCES wf_runs ON DELETE CASCADE,
    position BIGINT NOT NULL,
    steps_executed BIGINT NOT NULL,
    line BYTEA NOT NULL,
    first_entry BIGINT NOT NULL,
    entries BIGINT NOT NULL,
    PRIMARY KEY (run, position)
);
CREATE TABLE wf_trace (
    run BIGINT NOT NULL REFERENCES wf_runs ON DELETE CASCADE,
    number BIGINT NOT NULL,
    entry BYTEA NOT NULL,
    PRIMARY KEY (run, number)
);
