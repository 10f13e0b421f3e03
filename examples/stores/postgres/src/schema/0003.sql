-- What may have crashed whoever had it under way; hardly ever anything.
CREATE INDEX webhook_ready_suspect ON webhook_ready (endpoint, due_at, event) WHERE state = 'leased' AND crashes > 0;
