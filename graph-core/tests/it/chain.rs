//! A chain of 200 object types, each with an asynchronous field that returns the next.

use graph_core::http::GraphRequest;
use graph_core::limits::Limits;
use graph_core::{Engine, GraphError, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

/// Declares each type with a field that returns the type after it.
macro_rules! chain {
    ($($this:ident $next:ident,)*) => {$(
        struct $this;

        #[graph_object(context = Context)]
        impl $this {
            async fn next(&self) -> Result<Option<$next>, GraphError> {
                tokio::task::yield_now().await;
                Ok(Some($next))
            }
        }
    )*};
}

#[rustfmt::skip]
chain! {
    T0 T1, T1 T2, T2 T3, T3 T4, T4 T5, T5 T6, T6 T7, T7 T8, T8 T9, T9 T10, T10 T11, T11 T12,
    T12 T13, T13 T14, T14 T15, T15 T16, T16 T17, T17 T18, T18 T19, T19 T20, T20 T21, T21 T22,
    T22 T23, T23 T24, T24 T25, T25 T26, T26 T27, T27 T28, T28 T29, T29 T30, T30 T31, T31 T32,
    T32 T33, T33 T34, T34 T35, T35 T36, T36 T37, T37 T38, T38 T39, T39 T40, T40 T41, T41 T42,
    T42 T43, T43 T44, T44 T45, T45 T46, T46 T47, T47 T48, T48 T49, T49 T50, T50 T51, T51 T52,
    T52 T53, T53 T54, T54 T55, T55 T56, T56 T57, T57 T58, T58 T59, T59 T60, T60 T61, T61 T62,
    T62 T63, T63 T64, T64 T65, T65 T66, T66 T67, T67 T68, T68 T69, T69 T70, T70 T71, T71 T72,
    T72 T73, T73 T74, T74 T75, T75 T76, T76 T77, T77 T78, T78 T79, T79 T80, T80 T81, T81 T82,
    T82 T83, T83 T84, T84 T85, T85 T86, T86 T87, T87 T88, T88 T89, T89 T90, T90 T91, T91 T92,
    T92 T93, T93 T94, T94 T95, T95 T96, T96 T97, T97 T98, T98 T99, T99 T100, T100 T101, T101 T102,
    T102 T103, T103 T104, T104 T105, T105 T106, T106 T107, T107 T108, T108 T109, T109 T110,
    T110 T111, T111 T112, T112 T113, T113 T114, T114 T115, T115 T116, T116 T117, T117 T118,
    T118 T119, T119 T120, T120 T121, T121 T122, T122 T123, T123 T124, T124 T125, T125 T126,
    T126 T127, T127 T128, T128 T129, T129 T130, T130 T131, T131 T132, T132 T133, T133 T134,
    T134 T135, T135 T136, T136 T137, T137 T138, T138 T139, T139 T140, T140 T141, T141 T142,
    T142 T143, T143 T144, T144 T145, T145 T146, T146 T147, T147 T148, T148 T149, T149 T150,
    T150 T151, T151 T152, T152 T153, T153 T154, T154 T155, T155 T156, T156 T157, T157 T158,
    T158 T159, T159 T160, T160 T161, T161 T162, T162 T163, T163 T164, T164 T165, T165 T166,
    T166 T167, T167 T168, T168 T169, T169 T170, T170 T171, T171 T172, T172 T173, T173 T174,
    T174 T175, T175 T176, T176 T177, T177 T178, T178 T179, T179 T180, T180 T181, T181 T182,
    T182 T183, T183 T184, T184 T185, T185 T186, T186 T187, T187 T188, T188 T189, T189 T190,
    T190 T191, T191 T192, T192 T193, T193 T194, T194 T195, T195 T196, T196 T197, T197 T198,
    T198 T199,
}

struct T199;

#[graph_object(context = Context)]
impl T199 {
    fn last(&self) -> i32 {
        199
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn first() -> T0 {
        T0
    }
}

/// G28: 200 object types in a chain of asynchronous fields compile with the default recursion
/// limit, and a query runs through all of them.
#[tokio::test]
async fn chain_of_200_types_compiles_and_runs() {
    let schema = RootNode::new(
        Query,
        EmptyMutation::<Context>::new(),
        EmptySubscription::<Context>::new(),
    );
    let engine = Engine::builder(schema)
        .with_limits(Limits::default().with_depth(1000).with_cost(1_000_000))
        .build()
        .unwrap();
    let (open, close) = ("{ next ".repeat(199), "}".repeat(199));
    let request = GraphRequest::new(format!("{{ first {open} {{ last }} {close} }}"));
    let answer = engine.execute(&request, &RequestContext::new(())).await;
    assert!(answer.errors().is_empty(), "{:?}", answer.errors());
    let (open, close) = ("{\"next\":".repeat(199), "}".repeat(199));
    let expected = format!("{{\"first\":{open}{{\"last\":199}}{close}}}");
    assert_eq!(answer.data(), Some(&*expected));
}
