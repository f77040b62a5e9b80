-- cells: every
-- Each batch with templated mail reads the layouts and partials of its accounts, which are few of their templates.
-- Templates are few, and are written by people.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX templates_parts ON templates (account_id) WHERE kind <> 'template' AND NOT archived AND current > 0;
