CREATE TABLE wf_continuations (
    token TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    principal BLOB NOT NULL,
    place TEXT NOT NULL,
    state TEXT NOT NULL,
    document BLOB NOT NULL
);
CREATE INDEX wf_continuations_of_session ON wf_continuations (session_id);
CREATE INDEX wf_continuations_by_state ON wf_continuations (state, place);
CREATE INDEX wf_continuations_of_principal_by_state ON wf_continuations (principal, state, place);
CREATE TABLE wf_cached_results (
    digest TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL,
    document BLOB NOT NULL
);
CREATE INDEX wf_cached_results_by_age ON wf_cached_results (created_at);
CREATE TABLE wf_lost_continuations AS SELECT * FROM wf_continuations WHERE 1 = 0;
CREATE TABLE wf_lost_cached_results AS SELECT * FROM wf_cached_results WHERE 1 = 0;
