-- events in the order in which those that an endpoint missed are looked at, and old ones let go
CREATE INDEX webhook_event_created ON webhook_event (created_at, id);
