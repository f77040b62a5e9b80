-- cells: every
-- Templates, layouts and partials with their drafts. A read model.
CREATE TABLE templates (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  alias text COLLATE "C",
  kind text NOT NULL,
  archived boolean NOT NULL,
  current integer NOT NULL,
  record jsonb NOT NULL,
  draft jsonb NOT NULL,
  -- Names of the layout and partials of the draft.
  uses text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX templates_by_alias ON templates (account_id, alias) WHERE alias IS NOT NULL;

-- Published versions, which never change. A read model.
CREATE TABLE template_versions (
  account_id text COLLATE "C" NOT NULL,
  template_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  version integer NOT NULL,
  record jsonb NOT NULL,
  source jsonb NOT NULL,
  uses text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, template_id, number)
);
