-- cells: every
-- Bounds what an account stores for mail that costs no volume: scheduled mail, which can be canceled, and canceled mail.
CREATE TABLE unsent_mail (
  account_id text COLLATE "C" NOT NULL,
  -- In which the mail was accepted.
  month text COLLATE "C" NOT NULL,
  -- Of the content of scheduled mail that is not sent yet, and of canceled mail whose content is still stored.
  bytes bigint NOT NULL DEFAULT 0,
  -- Canceled recipients that were given back to the monthly volume.
  refunded bigint NOT NULL DEFAULT 0,
  CONSTRAINT unsent_mail_pkey PRIMARY KEY (account_id, month),
  CONSTRAINT unsent_mail_month_check CHECK (month ~ '^\d{4}-\d{2}$')
) WITH (fillfactor = 50);

-- Canceled mail whose content is still stored.
CREATE TABLE canceled_content (
  account_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  month text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  -- Of each part, as often as the message has it.
  hashes text[] COLLATE "C" NOT NULL,
  canceled_at timestamptz NOT NULL,
  CONSTRAINT canceled_content_pkey PRIMARY KEY (account_id, email_id)
);
CREATE INDEX canceled_content_by_time ON canceled_content (canceled_at);

-- How many parts of messages that are not canceled use the content; null for content of former releases.
ALTER TABLE content ADD COLUMN uses integer;
