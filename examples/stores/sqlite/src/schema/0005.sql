-- what may have crashed whoever had it under way; hardly ever anything
CREATE INDEX webhook_delivery_suspect ON webhook_delivery (endpoint, due_at, event) WHERE state = 'leased' AND crashes > 0;
