-- events in the order in which those that an endpoint missed are looked at
DROP INDEX webhook_event_created;
CREATE INDEX webhook_event_created ON webhook_event (created_at, id);
