//! Macro that declares the types of a connection.

/// Declares the connection and edge types of a node type, with `edges`, `pageInfo`, `node` and
/// `cursor`.
///
/// The arguments are the connection type, the edge type, the node type, and the context of the
/// schema. Each node type needs its own pair of types, because juniper takes the GraphQL name from
/// the Rust name. `From<Page<Node>>` converts a page to the connection.
///
/// The word `look_ahead` after the context lets resolvers read the
/// [selection](crate::look_ahead) on both types. They must then not be more visible than the node
/// type.
///
/// ```
/// use graph_core::connection::{CursorKey, Cursors, PageArguments, PageLimits};
/// use graph_core::guard::RequestContext;
/// use graph_core::GraphError;
///
/// type Context = RequestContext<Cursors>;
///
/// #[derive(graph_core::GraphObject)]
/// #[graphql(context = Context)]
/// struct Charge {
///     id: i32,
/// }
///
/// graph_core::connection! {
///     /// A page of charges.
///     pub ChargeConnection,
///     /// A charge of a page.
///     pub ChargeEdge,
///     Charge,
///     Context
/// }
///
/// struct Query;
///
/// #[graph_core::graph_object(context = Context)]
/// impl Query {
///     fn charges(
///         context: &Context,
///         first: Option<i32>,
///         after: Option<String>,
///     ) -> Result<ChargeConnection, GraphError> {
///         let arguments = PageArguments { first, after, ..PageArguments::default() };
///         let cursors = context.host().field("Query.charges");
///         let request = cursors.request(PageLimits::default(), arguments)?;
///         let charges = (1..=3).map(|id| Charge { id }).collect();
///         Ok(request.slice(charges, |charge| charge.id.to_string())?.into())
///     }
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! connection {
    (
        $(#[$connection_meta:meta])* $connection_vis:vis $connection:ident,
        $(#[$edge_meta:meta])* $edge_vis:vis $edge:ident,
        $node:ty,
        $context:ty $(, $look_ahead:ident)? $(,)?
    ) => {
        $(#[$connection_meta])*
        $connection_vis struct $connection {
            edges: ::std::vec::Vec<$edge>,
            page_info: $crate::connection::PageInfo,
        }

        $(#[$edge_meta])*
        $edge_vis struct $edge($crate::connection::Edge<$node>);

        impl ::std::convert::From<$crate::connection::Page<$node>> for $connection {
            fn from(page: $crate::connection::Page<$node>) -> Self {
                let (edges, page_info) = page.into_parts();
                Self {
                    edges: edges.into_iter().map($edge).collect(),
                    page_info,
                }
            }
        }

        #[$crate::graph_object(context = $context $(, $look_ahead)?)]
        impl $connection {
            /// The edges of the page.
            fn edges(&self) -> &[$edge] {
                &self.edges
            }

            /// The position of the page in the list.
            fn page_info(&self) -> &$crate::connection::PageInfo {
                &self.page_info
            }
        }

        #[$crate::graph_object(context = $context $(, $look_ahead)?)]
        impl $edge {
            /// The node of the edge.
            fn node(&self) -> &$node {
                self.0.node()
            }

            /// The cursor of the edge, for `after` and `before`.
            fn cursor(&self) -> &str {
                self.0.cursor()
            }
        }
    };
}
