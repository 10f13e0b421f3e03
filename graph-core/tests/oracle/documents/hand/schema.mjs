// Schema of the hand-written documents.

export const HAND_SCHEMA = `
"root of all queries"
type Query {
  dog: Dog
  cat(name: String = "Tom"): Cat
  pet(id: ID!): Pet
  pets(first: Int = 10, after: ID, filter: PetFilter): [Pet!]!
  being: Being
  beings: [Being]
  catOrDog: CatOrDog
  humanOrAlien: HumanOrAlien
  human(id: ID): Human
  args: Args
  search(by: Choice!): [CatOrDog!]
  node(id: ID!): Node
}

type Mutation {
  rename(id: ID!, name: String!): Pet
  remove(ids: [ID!]!): Boolean
}

type Subscription {
  petAdded(filter: PetFilter): Pet
  count: Int!
}

interface Node { id: ID! }
interface Being implements Node { id: ID! name(surname: Boolean): String }
interface Pet implements Being & Node { id: ID! name(surname: Boolean): String owner: Human }
interface Intelligent { iq: Int }

type Dog implements Pet & Being & Node {
  id: ID!
  name(surname: Boolean): String
  nickname: String
  barkVolume: Int
  barks: Boolean
  doesKnow(command: Command!): Boolean!
  isAtLocation(x: Int, y: Int): Boolean
  owner: Human
  data: String!
  other: [Dog]
}

type Cat implements Pet & Being & Node {
  id: ID!
  name(surname: Boolean): String
  nickname: String
  meowVolume: Int
  meows: Boolean
  furColor: Color
  owner: Human!
  data: Int!
  other: [Cat!]
}

type Human implements Being & Intelligent & Node {
  id: ID!
  name(surname: Boolean): String
  pets: [Pet!]
  relatives: [Human]
  iq: Int
  address(kind: AddressKind = HOME): Address
}

type Alien implements Being & Intelligent & Node {
  id: ID!
  name(surname: Boolean): String
  iq: Int
  eyes: Int
  address: [Address]
}

type Address { street: String city: String! zip: String @deprecated(reason: "use \\"city\\"") }

union CatOrDog = Cat | Dog
union HumanOrAlien = Human | Alien

enum Command { SIT HEEL DOWN @deprecated }
enum Color { BROWN BLACK on type }
enum AddressKind { HOME WORK }

scalar Json
scalar Date @specifiedBy(url: "https://example.com/date")

input PetFilter {
  name: String = "any"
  color: Color = BLACK
  colors: [Color!]
  owner: PetFilter
  minimum: Float = 0.30000000000000004
  required: Boolean! = true
  json: Json
}

input Complex { required: Boolean! int: Int = 1 nested: Complex list: [String] matrix: [[Int!]] choice: Choice nonNull: Boolean! = false }
input Choice @oneOf { id: ID name: String filter: PetFilter colors: [Color!] complex: Complex }

type Args {
  int(it: Int): String
  intNonNull(it: Int!): String
  float(it: Float): String
  string(it: String): String
  stringNonNull(it: String!): String
  boolean(it: Boolean): String
  booleanNonNull(it: Boolean!): String
  id(it: ID): String
  enum(it: Command): String
  ints(it: [Int]): String
  intsNonNull(it: [Int!]!): String
  strings(it: [String!]): String
  matrix(it: [[Int!]]): String
  complex(it: Complex): String
  complexNonNull(it: Complex!): String
  complexes(it: [Complex!]): String
  choice(it: Choice): String
  json(it: Json): String
  jsonNonNull(it: Json!): String
  date(it: Date): String
  withDefault(it: Int! = 7): String
  listWithDefault(it: [Int!]! = [1]): String
  several(a: Int!, b: Int!, c: Int = 0, d: Int! = 0): String
}

directive @onQuery(note: String) on QUERY
directive @onMutation on MUTATION
directive @onSubscription on SUBSCRIPTION
directive @onField(level: Int! = 1) on FIELD
directive @onFragment on FRAGMENT_DEFINITION
directive @onSpread on FRAGMENT_SPREAD
directive @onInline on INLINE_FRAGMENT
directive @onVariable(note: String) on VARIABLE_DEFINITION
directive @repeat(n: Int!) repeatable on QUERY | FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT | VARIABLE_DEFINITION | FRAGMENT_DEFINITION
directive @onObject on OBJECT
directive @config(it: Complex, choice: Choice) on FIELD | QUERY
`;
