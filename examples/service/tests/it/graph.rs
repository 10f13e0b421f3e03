//! GraphQL of the desk: batch loading, persisted queries, batches and trusted documents.

use std::sync::Arc;

use graph_core::persisted::{DocumentHash, Manifest};
use host_store_sqlite::{Database, DatabaseError};
use serde_json::{Value, json};
use service::app::{App, Config};

use crate::desk::{ALL_SCOPES, BASE, ask, bearer, json as body, open, open_over, request};

async fn post(app: &Arc<App>, token: &str, sent: &Value) -> Value {
    let headers = [("authorization", token), ("content-type", "application/json")];
    body(&ask(app, request("POST", "/graphql", &headers, sent.to_string())).await)
}

async fn create(app: &Arc<App>, token: &str, path: &str, sent: Value) -> String {
    let headers = [("authorization", token), ("content-type", "application/json")];
    let created = body(&ask(app, request("POST", path, &headers, sent.to_string())).await);
    created.get("id").and_then(Value::as_str).unwrap().to_owned()
}

/// Renames a column, so that each statement that mentions it fails.
async fn rename(database: &Database, table: &str, from: &str, to: &str) {
    let sql = format!("ALTER TABLE {table} RENAME COLUMN {from} TO {to}");
    let renamed = database.write(move |transaction| {
        transaction.execute_batch(&sql)?;
        Ok::<_, DatabaseError>(())
    });
    renamed.await.unwrap();
}

/// G23: the SQL statements name only the columns of the fields that the operation selects.
#[tokio::test]
async fn only_selected_columns_are_read() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let ada = create(&app, &token, "/v1/customers", json!({ "name": "Ada" })).await;
    let charge = json!({ "amount": 100, "currency": "eur", "customer": ada, "description": "one" });
    let id = create(&app, &token, "/v1/charges", charge).await;
    let expected = json!({
        "id": id, "amount": 100, "currency": "eur", "amountRefunded": 0, "status": "succeeded",
        "description": "one", "version": 1, "customer": { "id": ada, "name": "Ada" },
    });
    let columns = [
        ("charge", "id", "id"),
        ("charge", "amount", "amount"),
        ("charge", "currency", "currency"),
        ("charge", "amount_refunded", "amountRefunded"),
        ("charge", "status", "status"),
        ("charge", "description", "description"),
        ("charge", "version", "version"),
        ("charge", "customer", "customer { id }"),
        ("customer", "name", "customer { id name }"),
    ];
    let ask = async |fields: &str| {
        let fragment = format!("fragment f on Charge {{ __typename {fields} }}");
        let query = format!("{{ charges {{ edges {{ n: node {{ ... {{ ...f }} }} }} }} }} {fragment}");
        post(&app, &token, &json!({ "query": query })).await
    };
    let answer = ask(&columns.map(|(_, _, field)| field).join(" ")).await;
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(
            &answer["data"]["charges"]["edges"][0]["n"][name], value,
            "{answer}"
        );
    }
    for (table, column, field) in columns {
        rename(&database, table, column, "gone").await;
        let others = columns.iter().filter(|(_, other, _)| *other != column);
        let mut others: Vec<_> = others.map(|(_, _, field)| *field).collect();
        if column == "customer" {
            others.retain(|field| !field.starts_with("customer"));
        }
        let answer = ask(&others.join(" ")).await;
        assert_eq!(answer.get("errors"), None, "{column}: {answer}");
        let answer = ask(&format!("... @skip(if: true) {{ {field} }}")).await;
        assert_eq!(answer.get("errors"), None, "{column}: {answer}");
        let answer = ask(field).await.to_string();
        assert!(answer.contains("INTERNAL_SERVER_ERROR"), "{column}: {answer}");
        rename(&database, table, "gone", column).await;
    }
    rename(&database, "charge", "currency", "gone").await;
    let query = format!("{{ charge(id: \"{id}\") {{ description id }} }}");
    let answer = post(&app, &token, &json!({ "query": query })).await;
    assert_eq!(
        answer,
        json!({ "data": { "charge": { "description": "one", "id": id } } })
    );
}

/// G8: a list of charges with their customers takes two reads, whatever its length, besides those
/// of the guard, which reads the state of the token and of its user (O36, O45).
#[tokio::test]
async fn list_with_customers_takes_two_reads() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let mut customers = Vec::new();
    for name in ["Grace", "Edsger \"\\ Dijkstra", "Barbara"] {
        customers.push(create(&app, &token, "/v1/customers", json!({ "name": name })).await);
    }
    for at in 0..12 {
        let customer = (at % 4 < 3).then(|| &customers[at % 4]);
        let charge = json!({ "amount": 100 + at, "currency": "eur", "customer": customer });
        create(&app, &token, "/v1/charges", charge).await;
    }
    let query = "{ charges(first: 12) { edges { node { amount customer { id name } } } } }";
    let read = async |query: &str| {
        let before = database.reads();
        let answer = post(&app, &token, &json!({ "query": query })).await;
        (database.reads() - before, answer)
    };
    let (of_guard, _) = read("{ __typename }").await;
    let (reads, answer) = read(query).await;
    assert_eq!((of_guard, reads), (2, 4), "{answer}");
    let charges = answer
        .pointer("/data/charges/edges")
        .and_then(Value::as_array)
        .unwrap();
    assert_eq!(charges.len(), 12);
    for charge in charges.iter().map(|edge| &edge["node"]) {
        let at = usize::try_from(charge["amount"].as_u64().unwrap() - 100).unwrap();
        let expected = customers.get(at % 4).map_or(Value::Null, |id| json!(id));
        assert_eq!(
            charge.pointer("/customer/id").unwrap_or(&Value::Null),
            &expected,
            "{charge}"
        );
    }
    assert_eq!(charges[9]["node"]["customer"]["name"], "Barbara");
}

/// Extensions of a request for `query` by its hash.
fn persisted(query: &str) -> Value {
    let hash = DocumentHash::digest(query).to_string();
    json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } })
}

/// G13: after its text was sent once, an operation runs by its hash, for every client within its
/// scopes.
#[tokio::test]
async fn desk_runs_registered_operation_by_hash() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let query = "{ viewer { subject } charges(first: 1) { edges { node { id } } } }";
    let extensions = persisted(query);
    let hashed = json!({ "extensions": extensions });
    let miss = post(&app, &token, &hashed).await;
    assert_eq!(miss["errors"][0]["message"], "PersistedQueryNotFound");
    let sent = post(&app, &token, &json!({ "query": query, "extensions": extensions })).await;
    assert!(sent.get("errors").is_none(), "{sent}");
    assert_eq!(post(&app, &token, &hashed).await, sent);
    let anonymous = request(
        "POST",
        "/graphql",
        &[("content-type", "application/json")],
        hashed.to_string(),
    );
    let refused = body(&ask(&app, anonymous).await);
    assert_eq!(refused["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    assert_eq!(refused["data"]["viewer"], Value::Null);
}

/// X6, G13: without Redis the database has the registered operations: a second process runs them by
/// their hash, and one that restarts.
#[tokio::test]
async fn database_keeps_registered_operations() {
    let database = Database::open_in_memory().unwrap();
    let query = "{ viewer { subject } }";
    let extensions = persisted(query);
    let first = open_over(database.clone()).await;
    let token = bearer(&first, ALL_SCOPES).await;
    let sent = post(
        &first,
        &token,
        &json!({ "query": query, "extensions": extensions }),
    )
    .await;
    drop(first);
    let second = open_over(database).await;
    let token = bearer(&second, ALL_SCOPES).await;
    assert_eq!(
        post(&second, &token, &json!({ "extensions": extensions })).await,
        sent
    );
    assert_eq!(sent["data"]["viewer"]["subject"], "demo-service");
}

/// G18: a batch gets one list of responses; its limit is ten operations.
#[tokio::test]
async fn the_desk_answers_batches() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let viewer = json!({ "query": "{ viewer { subject } }" });
    let answers = post(&app, &token, &json!([viewer, { "query": "{ nothing }" }])).await;
    assert_eq!(answers[0]["data"]["viewer"]["subject"], "demo-service");
    assert_eq!(
        answers[1]["errors"][0]["extensions"]["code"],
        "GRAPHQL_VALIDATION_FAILED"
    );
    let long = post(&app, &token, &json!(vec![viewer; 11])).await;
    assert_eq!(long["errors"][0]["extensions"]["code"], "BAD_REQUEST");
}

/// G14: a desk with trusted documents runs them by their ids, and nothing else.
#[tokio::test]
async fn desk_with_trusted_documents_runs_nothing_else() {
    let viewer = "query Viewer { viewer { subject } }";
    let with = |manifest: Manifest| {
        let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
        config.trusted_documents = Some(manifest);
        App::open(config)
    };
    let app = Arc::new(
        with(Manifest::new().with_document("viewer-1", viewer))
            .await
            .unwrap(),
    );
    let token = bearer(&app, ALL_SCOPES).await;
    let listed = post(&app, &token, &json!({ "documentId": "viewer-1" })).await;
    assert_eq!(listed["data"]["viewer"]["subject"], "demo-service");
    let free = post(&app, &token, &json!({ "query": viewer })).await;
    assert_eq!(
        free["errors"][0]["extensions"]["code"],
        "PERSISTED_QUERY_ID_REQUIRED"
    );
    let drifted = Manifest::new().with_document("gone-1", "{ removed }");
    let refused = with(drifted).await.err().unwrap();
    assert_eq!(refused.to_string(), "cannot start the service: the graph");
}
