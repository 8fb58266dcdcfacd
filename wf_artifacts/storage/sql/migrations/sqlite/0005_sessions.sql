CREATE TABLE wf_sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL UNIQUE,
    principal BLOB NOT NULL,
    status TEXT NOT NULL,
    position INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    owner TEXT,
    record BLOB NOT NULL
);
CREATE INDEX wf_sessions_of_principal ON wf_sessions (principal, session_id);
CREATE INDEX wf_sessions_of_principal_by_status ON wf_sessions (principal, status, session_id);
CREATE INDEX wf_sessions_by_status ON wf_sessions (status, session_id);
CREATE TABLE wf_session_headers (
    session INTEGER PRIMARY KEY REFERENCES wf_sessions ON DELETE CASCADE,
    digest TEXT NOT NULL,
    header BLOB NOT NULL
);
CREATE TABLE wf_session_events (
    session INTEGER NOT NULL REFERENCES wf_sessions ON DELETE CASCADE,
    number INTEGER NOT NULL,
    event BLOB NOT NULL,
    PRIMARY KEY (session, number)
);
CREATE TABLE wf_lost_sessions AS SELECT * FROM wf_sessions WHERE 1 = 0;
CREATE TABLE wf_lost_session_headers AS SELECT * FROM wf_session_headers WHERE 1 = 0;
CREATE TABLE wf_lost_session_events AS SELECT * FROM wf_session_events WHERE 1 = 0;
