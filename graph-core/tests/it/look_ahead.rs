//! Look-ahead: the selection that a resolver and a loader see.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use graph_core::connection::{CursorKey, Cursors, PageArguments, PageLimits};
use graph_core::http::HttpResponse;
use graph_core::look_ahead::{FieldSet, LookAhead, Selectable};
use graph_core::{
    Engine, GraphError, GraphObject, GraphRequest, Principal, RequestContext, SelectiveBatch,
    graph_interface, graph_object, graph_subscription, graph_union,
};
use host_ports::testing::SeededEntropy;
use juniper::{EmptyMutation, RootNode};
use serde_json::{Value, json};

use crate::fixture::{accepting, codes, post};

/// Lines that resolvers and loaders report.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn report<T: Selectable>(&self, what: &str, fields: &FieldSet<T>) {
        let names: Vec<_> = fields.names().collect();
        self.line(format!("{what}: {}", names.join(" ")));
    }

    fn line(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

type Context = RequestContext<Seen>;

#[derive(Clone, Default)]
struct Owner {
    id: i32,
    name: Option<String>,
    email: Option<String>,
}

#[graph_object(context = Context, look_ahead)]
impl Owner {
    fn id(&self) -> i32 {
        self.id
    }

    fn name(&self) -> Result<&str, GraphError> {
        self.name
            .as_deref()
            .ok_or_else(|| GraphError::internal("`name` was not loaded"))
    }

    fn email(&self) -> Result<&str, GraphError> {
        self.email
            .as_deref()
            .ok_or_else(|| GraphError::internal("`email` was not loaded"))
    }
}

/// Loads the owners with the columns that someone asks for; there is no owner 0.
struct Owners(Seen);

impl SelectiveBatch for Owners {
    type Key = i32;
    type Value = Owner;
    type Object = Owner;

    async fn load(&self, keys: Vec<i32>, fields: FieldSet<Owner>) -> Result<HashMap<i32, Owner>, GraphError> {
        self.0.report(&format!("owners {keys:?}"), &fields);
        tokio::task::yield_now().await;
        let owner = |id: i32| Owner {
            id,
            name: fields.contains(|owner| owner.name).then(|| format!("owner {id}")),
            email: fields
                .contains(|owner| owner.email)
                .then(|| format!("{id}@example.org")),
        };
        Ok(keys
            .into_iter()
            .filter(|id| *id != 0)
            .map(|id| (id, owner(id)))
            .collect())
    }
}

#[derive(GraphObject)]
#[graphql(context = Context, look_ahead)]
struct Photo {
    url: String,
    width: i32,
}

struct Pet {
    id: i32,
}

#[graph_object(context = Context, look_ahead, impl = AnimalValue)]
impl Pet {
    fn id(&self) -> i32 {
        self.id
    }

    fn r#type(&self) -> &str {
        "cat"
    }

    #[graph(role = "vet")]
    fn weight(&self) -> Option<i32> {
        Some(self.id)
    }

    fn photos(
        &self,
        #[graphql(default = 2)] first: i32,
        #[graph(validate(max_length = 3))] tag: Option<String>,
    ) -> Vec<Photo> {
        let url = tag.unwrap_or_default();
        let photo = |width| Photo {
            url: url.clone(),
            width,
        };
        (0..first).map(photo).collect()
    }

    fn photo(&self, size: [i32; 2]) -> Option<Photo> {
        Some(Photo {
            url: String::new(),
            width: size[0],
        })
    }

    fn mother(&self, context: &Context, look_ahead: &LookAhead<'_, Self>) -> Option<Box<Self>> {
        context.host().report("mother", &look_ahead.fields());
        Some(Box::new(Self { id: self.id + 1 }))
    }

    async fn owner(
        &self,
        context: &Context,
        look_ahead: LookAhead<'_, Owner>,
    ) -> Result<Option<Owner>, GraphError> {
        context
            .load_fields::<Owners>(self.id % 3, look_ahead.fields())
            .await
    }

    /// the same owner, after another batch
    async fn late_owner(
        &self,
        context: &Context,
        look_ahead: LookAhead<'_, Owner>,
    ) -> Result<Option<Owner>, GraphError> {
        context
            .load_fields::<Owners>(100 + self.id, FieldSet::default())
            .await?;
        context
            .load_fields::<Owners>(self.id % 3, look_ahead.fields())
            .await
    }
}

struct Stone;

#[graph_object(context = Context, look_ahead, impl = AnimalValue)]
impl Stone {
    fn id(&self) -> i32 {
        0
    }

    fn hardness(&self) -> i32 {
        7
    }
}

#[graph_interface(context = Context, for = [Pet, Stone])]
trait Animal {
    fn id(&self) -> i32;
}

#[graph_union(context = Context)]
enum Thing {
    Pet(Pet),
    Stone(Stone),
}

/// Type with a lifetime and references to its parts.
struct Album<'a> {
    title: &'a str,
    photos: Vec<Photo>,
}

#[graph_object(context = Context, look_ahead)]
impl<'a> Album<'a> {
    fn title(&self) -> Result<&'a str, GraphError> {
        Ok(self.title)
    }

    fn tags(&self) -> Result<&[&'a str], GraphError> {
        Ok(std::slice::from_ref(&self.title))
    }

    fn photos(&self) -> &[Photo] {
        &self.photos
    }

    fn some(&self) -> Option<&[Photo]> {
        Some(&self.photos)
    }

    fn checked(&self) -> Result<Option<&[Photo]>, GraphError> {
        Ok(Some(&self.photos))
    }

    fn cover(&self) -> Result<Option<&Photo>, GraphError> {
        Ok(self.photos.first())
    }

    fn same(&self, context: &Context, look_ahead: &LookAhead<'_, Self>) -> &Self {
        context.host().report("same", &look_ahead.fields());
        self
    }
}

graph_core::connection! {
    PetConnection, PetEdge, Pet, Context, look_ahead
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn pet(context: &Context, look_ahead: &LookAhead<'_, Pet>) -> Result<Option<Pet>, GraphError> {
        context.host().report("pet", &look_ahead.fields());
        for photos in look_ahead.each(|pet| pet.photos) {
            let (first, tag) = photos.arguments();
            let below = photos.look_ahead().fields();
            context
                .host()
                .report(&format!("{} {first} {tag:?}", photos.response_key()), &below);
        }
        Ok(Some(Pet { id: 1 }))
    }

    async fn pets(context: &Context, look_ahead: LookAhead<'_, Pet>, ids: Vec<i32>) -> Vec<Option<Pet>> {
        context.host().report("pets", &look_ahead.fields());
        ids.into_iter().map(|id| Some(Pet { id })).collect()
    }

    fn page(
        context: &Context,
        first: Option<i32>,
        look_ahead: &LookAhead<'_, PetConnection>,
    ) -> Result<PetConnection, GraphError> {
        let nodes = look_ahead.below(|page| page.edges).below(|edge| edge.node);
        context.host().report("nodes", &nodes.fields());
        context
            .host()
            .report("page info", &look_ahead.below(|page| page.page_info).fields());
        let cursors = Cursors::new(CursorKey::try_from([9; 32].as_slice()).unwrap());
        let arguments = PageArguments {
            first,
            ..PageArguments::default()
        };
        let request = cursors
            .field("Query.page")
            .request(PageLimits::default(), arguments)?;
        Ok(request
            .slice(vec![Pet { id: 1 }], |pet| pet.id.to_string())?
            .into())
    }

    fn album(context: &Context, look_ahead: &LookAhead<'_, Album<'_>>) -> Album<'static> {
        context.host().report("album", &look_ahead.fields());
        let same = look_ahead.below(|album| album.same);
        for (what, photos) in [
            ("photos", same.below(|album| album.photos)),
            ("some", same.below(|album| album.some)),
            ("checked", same.below(|album| album.checked)),
            ("cover", same.below(|album| album.cover)),
        ] {
            context.host().report(what, &photos.fields());
        }
        Album {
            title: "one",
            photos: Vec::new(),
        }
    }

    fn animals(context: &Context, look_ahead: &LookAhead<'_, AnimalValue>) -> Vec<AnimalValue> {
        context.host().report("of pets", &look_ahead.on::<Pet>().fields());
        context
            .host()
            .report("of stones", &look_ahead.on::<Stone>().fields());
        vec![Pet { id: 1 }.into(), Stone.into()]
    }

    fn things(context: &Context, look_ahead: &LookAhead<'_, Thing>) -> Vec<Thing> {
        context.host().report("of pets", &look_ahead.on::<Pet>().fields());
        context
            .host()
            .report("of stones", &look_ahead.on::<Stone>().fields());
        context
            .host()
            .report("of owners", &look_ahead.on::<Owner>().fields());
        vec![Thing::Pet(Pet { id: 1 }), Thing::Stone(Stone)]
    }
}

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn born(context: &Context, look_ahead: LookAhead<'_, Pet>) -> BoxStream<'static, Pet> {
        context.host().report("born", &look_ahead.fields());
        stream::iter([Pet { id: 1 }]).boxed()
    }
}

type ZooEngine = Engine<Query, EmptyMutation<Context>, Subscription>;

fn engine() -> ZooEngine {
    Engine::builder(RootNode::new(Query, EmptyMutation::new(), Subscription))
        .with_entropy(SeededEntropy::new(1))
        .with_incremental_delivery()
        .build()
        .unwrap()
}

async fn ask_with(
    query: &str,
    variables: impl Into<Value>,
    principal: Option<Principal>,
) -> (Value, Vec<String>) {
    let seen = Seen::default();
    let mut context = RequestContext::new(seen.clone()).with_selective_loader(Owners(seen.clone()));
    if let Some(principal) = principal {
        context = context.with_principal(principal);
    }
    let variables = serde_json::from_value(variables.into()).unwrap();
    let request = GraphRequest::new(query).with_variables(variables);
    let response = engine().execute(&request, &context).await;
    (serde_json::to_value(&response).unwrap(), seen.take())
}

async fn seen(query: &str) -> Vec<String> {
    let (answer, seen) = ask_with(query, json!({}), None).await;
    assert_eq!(codes(&answer), [""; 0], "{answer}");
    seen
}

/// G23: fields are found directly, under aliases and through fragments; `__typename` is none.
#[tokio::test]
async fn fragments_and_aliases_count() {
    let found = seen(
        "{ pet { __typename key: id ...A ... on Pet { type } ... { mother { id } } } }
         fragment A on Pet { ...B photos { url } } fragment B on Animal { id }",
    )
    .await;
    assert_eq!(
        found,
        ["pet: id type photos mother", "photos 2 None: url", "mother: id"]
    );
}

/// G23: `@skip` and `@include` are applied, also with variables.
#[tokio::test]
async fn skipped_fields_do_not_count() {
    let query = "query($yes: Boolean!, $no: Boolean!) { pet {
        id @skip(if: true) type @include(if: $yes)
        ... @include(if: $no) { mother { id } } ...A @skip(if: $yes) } }
        fragment A on Pet { photos { url } }";
    let (_, found) = ask_with(query, json!({ "yes": true, "no": false }), None).await;
    assert_eq!(found, ["pet: type"]);
    let (_, found) = ask_with(query, json!({ "yes": false, "no": true }), None).await;
    assert_eq!(found, ["pet: photos mother", "photos 2 None: url", "mother: id"]);
}

/// G23: arguments are coerced: literals, variables and defaults. Each response key has its own.
#[tokio::test]
async fn arguments_are_coerced() {
    let query = "query($n: Int, $tag: String = \"x\") { pet {
        photos(first: 5) { url } a: photos(first: $n, tag: $tag) { width }
        b: photos(tag: null) { url } b: photos(tag: null) { width } } }";
    let (answer, found) = ask_with(query, json!({ "n": 1 }), None).await;
    assert_eq!(codes(&answer), [""; 0], "{answer}");
    assert_eq!(
        found,
        [
            "pet: photos",
            "photos 5 None: url",
            "a 1 Some(\"x\"): width",
            "b 2 None: url width"
        ]
    );
    let (_, found) = ask_with(query, json!({}), None).await;
    assert_eq!(found[2], "a 2 Some(\"x\"): width");
}

/// G23: a field that a guard or its arguments refuse does not count: its resolver will not run.
#[tokio::test]
async fn refused_fields_do_not_count() {
    let query = "{ pet { id weight } }";
    let (answer, found) = ask_with(query, json!({}), Some(Principal::new("ada"))).await;
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
    assert_eq!(found, ["pet: id"]);
    let with_variable = "query($n: [Int!]!) { pet { id photo(size: $n) { url } } }";
    for (query, variables) in [
        ("{ pet { id photo(size: [1]) { url } } }", json!({})),
        (with_variable, json!({ "n": [1, 2, 3] })),
    ] {
        let (answer, found) = ask_with(query, variables, None).await;
        assert_eq!(codes(&answer), ["BAD_USER_INPUT"], "{answer}");
        assert_eq!(found, ["pet: id"]);
    }
    let (_, found) = ask_with("{ pet { photo(size: [1, 2]) { url } } }", json!({}), None).await;
    assert_eq!(found, ["pet: photo"]);
    let vet = Principal::new("eve").with_roles(["vet"]);
    let (answer, found) = ask_with(query, json!({}), Some(vet)).await;
    assert_eq!(answer["data"]["pet"]["weight"], 1);
    assert_eq!(found, ["pet: id weight"]);
}

/// G23, G24: deferred fields count, also in nested groups.
#[tokio::test]
async fn deferred_fields_count() {
    let query = "{ pet { id ... @defer { type ... @defer { photos { url } } } mother { ...M @defer } } }
        fragment M on Pet { id }";
    let expected = ["pet: id type photos mother", "photos 2 None: url", "mother: id"];
    assert_eq!(seen(query).await, expected);
    let seen = Seen::default();
    let context = RequestContext::new(seen.clone()).with_selective_loader(Owners(seen.clone()));
    let request = accepting(post(query, Value::Null), "multipart/mixed;deferSpec=20220824");
    let HttpResponse::Stream(response) = engine().respond(request, context).await else {
        panic!("one response")
    };
    let parts: Vec<_> = response.into_body().collect().await;
    assert!(parts.len() > 1, "{parts:?}");
    assert_eq!(seen.take(), expected);
}

/// G23: a resolver that runs once for two parts of the response sees the fields of both.
#[tokio::test]
async fn field_of_two_parts_sees_both() {
    let query = "query($n: [Int!]!) { pet { owner { name } ... @defer { owner { email }
        photo(size: $n) { url } weight } } }";
    let seen = Seen::default();
    let context = RequestContext::new(seen.clone()).with_selective_loader(Owners(seen.clone()));
    let context = context.with_principal(Principal::new("ada"));
    for accepted in [
        "multipart/mixed;deferSpec=20220824",
        "multipart/mixed;incrementalSpec=v0.2",
    ] {
        let request = accepting(post(query, json!({ "n": [1, 2] })), accepted);
        let HttpResponse::Stream(response) = engine().respond(request, context.clone()).await else {
            panic!("one response")
        };
        let parts: Vec<_> = response.into_body().collect().await;
        let text: String = parts.iter().map(|part| String::from_utf8_lossy(part)).collect();
        assert!(text.contains("1@example.org"), "{text}");
        assert!(!text.contains("INTERNAL_SERVER_ERROR"), "{text}");
        assert_eq!(seen.take()[0], "pet: photo owner");
    }
}

/// G23: references, slices and lifetimes in the types of fields.
#[tokio::test]
async fn fields_of_references_have_a_selection() {
    let found = seen(
        "{ album { title same { tags title photos { url } some { width } checked { url width }
        cover { url } } } }",
    )
    .await;
    assert_eq!(
        found,
        [
            "album: title same",
            "photos: url",
            "some: width",
            "checked: url width",
            "cover: url",
            "same: title tags photos some checked cover",
        ]
    );
}

/// G23: the selection on an interface or a union is read for each of its object types.
#[tokio::test]
async fn abstract_types_have_a_selection_for_each_type() {
    let found = seen("{ animals { id ... on Pet { type } ...S } } fragment S on Stone { hardness }").await;
    assert_eq!(found, ["of pets: id type", "of stones: id hardness"]);
    let found = seen("{ things { ... on Animal { id } ... on Pet { type } } }").await;
    assert_eq!(found, ["of pets: id type", "of stones: id", "of owners: "]);
}

/// G23: the selection on the nodes of a connection.
#[tokio::test]
async fn nodes_of_connections_are_reached() {
    let query =
        "{ page { edges { cursor node { id } } e: edges { n: node { type } } pageInfo { hasNextPage } } }";
    assert_eq!(seen(query).await, ["nodes: id type", "page info: hasNextPage"]);
    assert_eq!(seen("{ page { __typename } }").await, ["nodes: ", "page info: "]);
}

/// G23: the resolver of a subscription reads the selection on each event.
#[tokio::test]
async fn subscriptions_look_ahead() {
    let seen = Seen::default();
    let context = RequestContext::new(seen.clone());
    let request = GraphRequest::new("subscription { born { id ...T } } fragment T on Pet { type }");
    let events = engine().subscribe(request, context);
    assert_eq!(events.collect::<Vec<_>>().await.len(), 1);
    assert_eq!(seen.take(), ["born: id type"]);
}

/// G23: a loader receives the union of the fields, in one batch for all waiting resolvers.
#[tokio::test]
async fn loaders_receive_the_union() {
    let query = "{ a: pets(ids: [1, 4]) { owner { id } } b: pets(ids: [2]) { owner { name } } c: pets(ids: [3]) { owner { email } } }";
    let (answer, found) = ask_with(query, json!({}), None).await;
    assert_eq!(found[3..], ["owners [1, 2, 0]: id name email"], "{answer}");
    assert_eq!(answer["data"]["b"][0]["owner"]["name"], "owner 2");
    assert_eq!(answer["data"]["c"][0]["owner"], Value::Null);
    let found = seen("{ pets(ids: [1]) { owner { __typename } } }").await;
    assert_eq!(found, ["pets: owner", "owners [1]: "]);
}

/// G23: a cached value that lacks a field is loaded again, with its earlier fields; an absent
/// value is not.
#[tokio::test]
async fn values_that_lack_a_field_are_loaded_again() {
    let query = "{ pets(ids: [1, 3]) { owner { name } lateOwner { email } } }";
    let (answer, found) = ask_with(query, json!({}), None).await;
    let expected = [
        "pets: owner lateOwner",
        "owners [1, 101, 0, 103]: name",
        "owners [1]: name email",
    ];
    assert_eq!(found, expected, "{answer}");
    let answer = &answer["data"]["pets"][0];
    assert_eq!(answer["lateOwner"]["email"], "1@example.org");
    let query = "{ pets(ids: [1]) { owner { name email } lateOwner { email } } }";
    let (_, found) = ask_with(query, json!({}), None).await;
    assert_eq!(found[1..], ["owners [1, 101]: name email"]);
}
