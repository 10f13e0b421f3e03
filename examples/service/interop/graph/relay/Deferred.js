import { graphql } from "relay-runtime";

export const rest = graphql`
  fragment Deferred_rest on Charge {
    amount
    currency
    customer {
      name
    }
    ...Deferred_state @defer
  }
`;

export const state = graphql`
  fragment Deferred_state on Charge {
    status
    version
  }
`;

export const page = graphql`
  query DeferredQuery($first: Int!) {
    viewer {
      subject
    }
    charges(first: $first) {
      edges {
        node {
          id
          ...Deferred_rest @defer
        }
      }
    }
  }
`;
