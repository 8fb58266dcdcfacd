CREATE TABLE wf_sessions (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL UNIQUE,
    principal BYTEA NOT NULL,
    status TEXT NOT NULL,
    position BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    owner TEXT,
    record BYTEA NOT NULL
);
CREATE INDEX wf_sessions_of_principal ON wf_sessions (principal, session_id);
CREATE INDEX wf_sessions_of_principal_by_status ON wf_sessions (principal, status, session_id);
CREATE INDEX wf_sessions_by_status ON wf_sessions (status, session_id);
CREATE TABLE wf_session_headers (
    session BIGINT PRIMARY KEY REFERENCES wf_sessions ON DELETE CASCADE,
    digest TEXT NOT NULL,
    header BYTEA NOT NULL
);
CREATE TABLE wf_session_events (
    session BIGINT NOT NULL REFERENCES wf_sessions ON DELETE CASCADE,
    number BIGINT NOT NULL,
    event BYTEA NOT NULL,
    PRIMARY KEY (session, number)
);
CREATE TABLE wf_lost_sessions AS SELECT * FROM wf_sessions WHERE 1 = 0;
CREATE TABLE wf_lost_session_headers AS SELECT * FROM wf_session_headers WHERE 1 = 0;
CREATE TABLE wf_lost_session_events AS SELECT * FROM wf_session_events WHERE 1 = 0;
