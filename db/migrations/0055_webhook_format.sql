-- Shape of the payload of a webhook's calls, and whether its calls have the headers svix-* beside webhook-*. The columns are not in
-- `record`, so a node of the release before leaves them as they are.
ALTER TABLE webhooks
  ADD COLUMN format text COLLATE "C" NOT NULL DEFAULT 'waybill',
  ADD COLUMN svix_headers boolean NOT NULL DEFAULT false;
