//! Types that violate the specification's rules for interfaces and unions.

use graph_core::{Engine, RequestContext, graph_interface, graph_object, graph_union};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[graph_interface(for = [Charge, Refund, Payout], context = Context)]
trait Booking {
    fn id(&self) -> i32;
    fn lines(&self, first: i32, last: Option<i32>) -> Option<Vec<i32>>;
}

/// Implements the interface: the list is non-null, and the additional argument is optional.
struct Charge;

#[graph_object(context = Context, impl = BookingValue)]
impl Charge {
    fn id() -> i32 {
        1
    }

    fn lines(first: i32, last: Option<i32>, _all: Option<bool>) -> Vec<i32> {
        vec![first, last.unwrap_or_default()]
    }
}

/// Lacks a field, and has another type and other arguments.
struct Refund;

#[graph_object(context = Context, impl = BookingValue)]
impl Refund {
    fn lines(first: Option<i32>, _all: bool) -> Option<Vec<String>> {
        Some(vec![first.unwrap_or_default().to_string()])
    }
}

/// Is listed by the interface, but does not list it.
struct Payout;

#[graph_object(context = Context)]
impl Payout {
    fn id(#[deprecated] _at: i32) -> i32 {
        1
    }
}

/// Lists the interface, but is not listed by it.
struct Fee;

#[graph_object(context = Context, impl = BookingValue)]
impl Fee {
    fn id() -> i32 {
        1
    }

    fn lines(_first: i32, _last: Option<i32>) -> Option<Vec<i32>> {
        None
    }
}

#[graph_union(context = Context)]
#[expect(dead_code, reason = "no resolver returns it")]
enum Found {
    Fee(Fee),
    Booking(BookingValue),
    Number(i32),
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn booking() -> BookingValue {
        Charge.into()
    }

    fn found() -> Option<Found> {
        None
    }
}

/// G1: the engine is not built with a type that violates the rules of the specification; each
/// mistake is reported.
#[test]
fn invalid_types_are_reported_by_build() {
    let schema = RootNode::new(
        Query,
        EmptyMutation::<Context>::new(),
        EmptySubscription::<Context>::new(),
    );
    let refused = Engine::builder(schema).build().unwrap_err();
    let mistakes: Vec<_> = refused.mistakes().iter().map(ToString::to_string).collect();
    let expected = [
        "the type `Booking` is invalid: `for` lists `Payout`, which does not list it in `impl`",
        "the type `Fee` is invalid: `impl` lists `Booking`, which does not list it in `for`",
        "the type `Found` is invalid: the member `Booking` is not an object type",
        "the type `Found` is invalid: the member `Int` is not an object type",
        "the type `Payout` is invalid: the required argument `at` of `id` is deprecated",
        "the type `Refund` is invalid: the field `id` of `Booking` is missing",
        "the type `Refund` is invalid: the field `lines` differs from `Booking`: the additional argument `all` is required",
        "the type `Refund` is invalid: the field `lines` differs from `Booking`: the argument `first` has the type `Int`, not `Int!`",
        "the type `Refund` is invalid: the field `lines` differs from `Booking`: the argument `last` is missing",
        "the type `Refund` is invalid: the field `lines` has the type `[String!]`, not `[Int!]` as in `Booking`",
    ];
    assert_eq!(mistakes, expected);
}
