import { graphql } from 'relay-runtime';

export const user = graphql`
  fragment user_profile on User @refetchable(queryName: "userRefetchQuery") {
    name
  }
`;

export const node = graphql`
  fragment user_node on Node @refetchable(queryName: "userNodeRefetchQuery") {
    ... on User {
      name
    }
    ... on Memo {
      id
    }
  }
`;

export const query = graphql`
  query userQuery($id: ID!, $ids: [ID!]!) {
    node(id: $id) {
      ...user_profile @alias
      ...user_node
    }
    nodes(ids: $ids) {
      ...user_node
    }
  }
`;
