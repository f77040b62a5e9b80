-- Reports (bounces, complaints) whose parsing was ended: by its deadline, by its memory limit or by a fault of the parser.
-- Each is kept for an operator, once for each return path that it was addressed to.
CREATE TABLE unread_reports (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- Email and recipient that the return path names.
  email_id text COLLATE "C" NOT NULL,
  recipient_index integer NOT NULL,
  -- 'domain' where the return path stands for all recipients of that recipient's domain.
  scope text COLLATE "C",
  -- Address of the client that delivered the report.
  address text COLLATE "C" NOT NULL,
  -- Why parsing was ended.
  reason text COLLATE "C" NOT NULL CHECK (reason IN ('deadline', 'memory', 'crash')),
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, id)
);
ALTER TABLE unread_reports ALTER COLUMN bytes SET STATISTICS 0;
CREATE INDEX unread_reports_by_email ON unread_reports (account_id, email_id);
CREATE INDEX unread_reports_by_time ON unread_reports (received_at);
