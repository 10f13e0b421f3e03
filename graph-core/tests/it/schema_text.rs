//! Schema as SDL, and deprecated fields.

use std::sync::{Arc, Mutex};

use graph_core::http::GraphRequest;
use graph_core::persisted::{Manifest, TrustedDocuments, TrustedMode};
use graph_core::ports::DeprecatedUse;
use graph_core::{Engine, GraphEnum, GraphError, GraphObject, RequestContext, graph_object};
use juniper::{EmptySubscription, GraphQLInputObject, RootNode};

use crate::fixture::codes;

type Context = RequestContext<()>;

/// A place, as maps have it.
///
/// Its name is "its name".
#[derive(GraphObject)]
#[graphql(context = Context)]
struct Place {
    /// The common name.
    name: String,
    #[graphql(deprecated = "say \"name\"\nin place of it")]
    label: String,
}

#[derive(Clone, Copy, juniper::GraphQLEnum, GraphEnum)]
enum Side {
    /// The side of the heart.
    Left,
    #[graphql(deprecated = "No longer supported")]
    Middle,
    Right,
}

#[derive(Clone, GraphQLInputObject)]
struct Window {
    /// The width.
    #[graphql(default = 3)]
    width: i32,
    #[graphql(default = 1.0)]
    ratio: f64,
    #[graphql(default = "say \"hi\"\\")]
    title: String,
    sides: Option<Vec<Option<String>>>,
}

struct Root;

#[graph_object(context = Context, name = "Root")]
impl Root {
    fn place(
        #[graphql(description = "Which one.")] id: juniper::ID,
        #[graphql(deprecated = "never did anything")] exact: Option<bool>,
    ) -> Result<Option<Place>, GraphError> {
        drop((id, exact));
        Ok(Some(Place {
            name: "here".to_owned(),
            label: "here".to_owned(),
        }))
    }

    fn area(window: Option<Window>, #[graphql(default = vec![1, 2])] counts: Vec<i32>) -> i32 {
        drop(counts);
        window.map_or(0, |window| {
            drop((window.ratio, window.title, window.sides));
            window.width
        })
    }

    fn side() -> Side {
        [Side::Left, Side::Middle, Side::Right][1]
    }

    #[graphql(deprecated = "ask for `place`")]
    fn old(_at: Option<i32>) -> i32 {
        1
    }
}

struct Change;

#[graph_object(context = Context)]
impl Change {
    fn nothing() -> bool {
        false
    }
}

fn root() -> RootNode<Root, Change, EmptySubscription<Context>> {
    RootNode::new(Root, Change, EmptySubscription::new())
}

/// Output of graphql-js for the schema: `printSchema(lexicographicSortSchema(buildSchema(text)))`.
const EXPECTED: &str = include_str!("../vectors/schema.graphqls");

/// G11: the SDL contains descriptions, defaults, deprecations and custom root names, sorted by
/// name.
#[test]
fn the_schema_is_told_as_text() {
    let engine = Engine::builder(root()).build().unwrap();
    assert_eq!(engine.sdl(), EXPECTED);
}

type Uses = Arc<Mutex<Vec<(String, Option<String>)>>>;

fn counting(manifest: Manifest) -> (Engine<Root, Change, EmptySubscription<Context>>, Uses) {
    let uses = Uses::default();
    let log = Arc::clone(&uses);
    let trusted = TrustedDocuments::new([manifest]).with_mode(TrustedMode::Off);
    let engine = Engine::builder(root())
        .with_trusted_documents(trusted)
        .with_deprecation_log(move |used: &DeprecatedUse<'_>| {
            let operation = used.operation.map(str::to_owned);
            log.lock().unwrap().push((used.coordinate.to_owned(), operation));
        });
    (engine.build().unwrap(), uses)
}

const OLD: &str =
    "query Mine { old a: old ...F } fragment F on Root { place(id: 1, exact: true) { label name } }";

/// G11: each start of an operation reports each of its deprecated fields and arguments once,
/// through fragments and aliases.
#[tokio::test]
async fn deprecated_fields_are_told_of_when_they_are_used() {
    let manifest = Manifest::new()
        .with_document("listed-1", OLD)
        .with_document("listed-2", "{ old }");
    let (engine, uses) = counting(manifest);
    let ask = async |request: GraphRequest| {
        let answer = engine.execute(&request, &RequestContext::new(())).await;
        let used = std::mem::take(&mut *uses.lock().unwrap());
        (serde_json::to_value(&answer).unwrap(), used)
    };
    let all = ["Place.label", "Root.old", "Root.place(exact:)"];
    for _ in 0..2 {
        let (_, used) = ask(GraphRequest::persisted("listed-1")).await;
        assert_eq!(used, all.map(|at| (at.to_owned(), Some("Mine".to_owned()))));
        let (_, used) = ask(GraphRequest::persisted("listed-2")).await;
        assert_eq!(used, [("Root.old".to_owned(), Some("listed-2".to_owned()))]);
        // the client's operation name would be an unbounded label
        let (_, used) = ask(GraphRequest::new(OLD).with_operation_name("Mine")).await;
        assert_eq!(used, all.map(|at| (at.to_owned(), None)));
        let (_, used) = ask(GraphRequest::new("{ side place(id: 1) { name } }")).await;
        assert_eq!(used, []);
    }
    let (refused, used) = ask(GraphRequest::new("{ old nothing }")).await;
    assert_eq!(
        (codes(&refused), used),
        (vec!["GRAPHQL_VALIDATION_FAILED"], vec![])
    );
}
