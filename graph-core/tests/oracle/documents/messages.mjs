// Table of the messages of graphql-js, and counts of first errors by message.

const THROWN = "validate throws";

// [rule or part of the parser, pattern]; messages that no UTF-8 document provokes are left out:
// `Invalid character`, `must have at least one field selected`, limits of tokens and comments
export const MESSAGES = [
  ["lexer", /^Syntax Error: Unexpected single quote character \('\), did you mean to use a double quote \("\)\?$/],
  ["lexer", /^Syntax Error: Unexpected character: /],
  ["lexer", /^Syntax Error: Invalid number, unexpected digit after 0: "\d"\.$/],
  ["lexer", /^Syntax Error: Invalid number, expected digit but got: /],
  ["lexer", /^Syntax Error: Unterminated string\.$/],
  ["lexer", /^Syntax Error: Invalid character escape sequence: "/],
  ["lexer, \\u{…}", /^Syntax Error: Invalid Unicode escape sequence: "\\u\{/],
  ["lexer, \\u…", /^Syntax Error: Invalid Unicode escape sequence: "\\u[^{]/],
  ["parser", /^Syntax Error: Unexpected variable "\$\w+" in constant value\.$/],
  ["parser", /^Syntax Error: Unexpected description, descriptions are not supported on shorthand queries\.$/],
  ["parser", /^Syntax Error: Unexpected description, only GraphQL definitions support descriptions\.$/],
  ["parser", /^Syntax Error: Name "(true|false|null)" is reserved and cannot be used for an enum value\.$/],
  ...["Name", "\":\"", "\"$\"", "\"{\"", "\"]\"", "\"@\"", "\"on\""].map((kind) => ["parser", new RegExp(`^Syntax Error: Expected ${kind.replace(/[$\]{]/g, "\\$&")}, found `)]),
  ["parser", /^Syntax Error: Unexpected <EOF>\.$/],
  ...["Name", "Int", "Float", "String", "BlockString"].map((kind) => ["parser", new RegExp(`^Syntax Error: Unexpected ${kind} "`)]),
  ...[..."!$&():=@[]{|}", "..."].map((kind) => ["parser", new RegExp(`^Syntax Error: Unexpected "${kind.replaceAll(/[^\w]/g, "\\$&")}"\\.$`)]),
  ["ExecutableDefinitionsRule", /^The "\w+" definition is not executable\.$/],
  ["ExecutableDefinitionsRule", /^The schema definition is not executable\.$/],
  ["UniqueOperationNamesRule", /^There can be only one operation named "/],
  ["LoneAnonymousOperationRule", /^This anonymous operation must be the only defined operation\.$/],
  ["SingleFieldSubscriptionsRule", /^Subscription "\w+" must select only one top level field\.$/],
  ["SingleFieldSubscriptionsRule", /^Anonymous Subscription must select only one top level field\.$/],
  ["SingleFieldSubscriptionsRule", /^Subscription "\w+" must not select an introspection top level field\.$/],
  ["SingleFieldSubscriptionsRule", /^Anonymous Subscription must not select an introspection top level field\.$/],
  [THROWN, /^Argument "if" of required type "Boolean!" was not provided\.$/],
  [THROWN, /^Argument "if" of required type "Boolean!" was provided the variable "\$\w+" which was not provided a runtime value\.$/],
  [THROWN, /^Argument "if" of non-null type "Boolean!" must not be null\.$/],
  [THROWN, /^Argument "if" has invalid value /],
  ["KnownTypeNamesRule", /^Unknown type "\w+"\.$/],
  ["FragmentsOnCompositeTypesRule", /^Fragment cannot condition on non composite type "\w+"\.$/],
  ["FragmentsOnCompositeTypesRule", /^Fragment "\w+" cannot condition on non composite type "\w+"\.$/],
  ["VariablesAreInputTypesRule", /^Variable "\$\w+" cannot be non-input type "/],
  ["ScalarLeafsRule", /^Field "\w+" must not have a selection since type "\S+" has no subfields\.$/],
  ["ScalarLeafsRule", /^Field "\w+" of type "\S+" must have a selection of subfields\. Did you mean "\w+ \{ \.\.\. \}"\?$/],
  ["FieldsOnCorrectTypeRule", /^Cannot query field "\w+" on type "\w+"\.$/],
  ["UniqueFragmentNamesRule", /^There can be only one fragment named "/],
  ["KnownFragmentNamesRule", /^Unknown fragment "\w+"\.$/],
  ["NoUnusedFragmentsRule", /^Fragment "\w+" is never used\.$/],
  ["PossibleFragmentSpreadsRule", /^Fragment cannot be spread here as objects of type /],
  ["PossibleFragmentSpreadsRule", /^Fragment "\w+" cannot be spread here as objects of type /],
  ["NoFragmentCyclesRule", /^Cannot spread fragment "\w+" within itself\.$/],
  ["NoFragmentCyclesRule", /^Cannot spread fragment "\w+" within itself via "\w+"(, "\w+")*\.$/],
  ["UniqueVariableNamesRule", /^There can be only one variable named "\$/],
  ["NoUndefinedVariablesRule", /^Variable "\$\w+" is not defined by operation "\w+"\.$/],
  ["NoUndefinedVariablesRule", /^Variable "\$\w+" is not defined\.$/],
  ["NoUnusedVariablesRule", /^Variable "\$\w+" is never used in operation "\w+"\.$/],
  ["NoUnusedVariablesRule", /^Variable "\$\w+" is never used\.$/],
  ["KnownDirectivesRule", /^Unknown directive "@\w+"\.$/],
  ["KnownDirectivesRule", /^Directive "@\w+" may not be used on [A-Z_]+\.$/],
  ["UniqueDirectivesPerLocationRule", /^The directive "@\w+" can only be used once at this location\.$/],
  ["KnownArgumentNamesRule", /^Unknown argument "\w+" on field "\w+\.\w+"\.$/],
  ["KnownArgumentNamesRule", /^Unknown argument "\w+" on directive "@\w+"\.$/],
  ["UniqueArgumentNamesRule", /^There can be only one argument named "/],
  ["ValuesOfCorrectTypeRule", /^Int cannot represent non-integer value: /],
  ["ValuesOfCorrectTypeRule", /^Int cannot represent non 32-bit signed integer value: /],
  ["ValuesOfCorrectTypeRule", /^Float cannot represent non numeric value: /],
  ["ValuesOfCorrectTypeRule", /^String cannot represent a non string value: /],
  ["ValuesOfCorrectTypeRule", /^Boolean cannot represent a non boolean value: /],
  ["ValuesOfCorrectTypeRule", /^ID cannot represent a non-string and non-integer value: /],
  ["ValuesOfCorrectTypeRule", /^Enum "\w+" cannot represent non-enum value: /],
  ["ValuesOfCorrectTypeRule", /^Value "\w+" does not exist in "\w+" enum\.$/],
  ["ValuesOfCorrectTypeRule, null", /^Expected value of type "\S+", found null\.$/],
  ["ValuesOfCorrectTypeRule, input object", /^Expected value of type "\S+", found (?!null\.$)/],
  ["ValuesOfCorrectTypeRule", /^Field "\w+\.\w+" of required type "\S+" was not provided\.$/],
  ["ValuesOfCorrectTypeRule", /^Field "\w+" is not defined by type "\w+"\.$/],
  ["ValuesOfCorrectTypeRule", /^OneOf Input Object "\w+" must specify exactly one key\.$/],
  ["ValuesOfCorrectTypeRule", /^Field "\w+\.\w+" must be non-null\.$/],
  ["ProvidedRequiredArgumentsRule", /^Field "\w+" argument "\w+" of type "\S+" is required, but it was not provided\.$/],
  ["ProvidedRequiredArgumentsRule", /^Directive "@\w+" argument "\w+" of type "\S+" is required, but it was not provided\.$/],
  ["VariablesInAllowedPositionRule", /^Variable "\$\w+" of type "\S+" used in position expecting type "\S+"\.$/],
  ["VariablesInAllowedPositionRule", /^Variable "\$\w+" is of type "\S+" but must be non-nullable to be used for OneOf Input Object "\w+"\.$/],
  ["OverlappingFieldsCanBeMergedRule", /^Fields "\w+" conflict because "\w+" and "\w+" are different fields\. /],
  ["OverlappingFieldsCanBeMergedRule", /^Fields "\w+" conflict because they have differing arguments\. /],
  ["OverlappingFieldsCanBeMergedRule", /^Fields "\w+" conflict because they return conflicting types "\S+" and "\S+"\. /],
  ["OverlappingFieldsCanBeMergedRule", /^Fields "\w+" conflict because subfields "\w+" conflict because (?!.* and subfields )/],
  ["OverlappingFieldsCanBeMergedRule, several reasons", /^Fields "\w+" conflict because subfields "\w+" conflict because .* and subfields /],
  ["OverlappingFieldsCanBeMergedRule, abbreviated", /^Fields ".*\.\.\." conflict because |\.\.\.\. Use different aliases/, { isRare: true }],
  ["UniqueInputFieldNamesRule", /^There can be only one input field named "/],
];

export class Counts {
  #counts = MESSAGES.map(() => 0);
  #unknown = [];
  accepted = 0;
  total = 0;

  add({ error }) {
    this.total += 1;
    if (!error) {
      this.accepted += 1;
      return;
    }
    const at = MESSAGES.findIndex(([, pattern]) => pattern.test(error.message));
    if (at < 0) this.#unknown.push(error.message);
    else this.#counts[at] += 1;
  }

  table() {
    const share = (count) => `${((100 * count) / this.total).toFixed(1)} %`;
    const isSyntax = (part) => part.startsWith("lexer") || part.startsWith("parser");
    const sum = (filter) => MESSAGES.reduce((total, [part], at) => total + (filter(part) ? this.#counts[at] : 0), 0);
    const syntax = sum(isSyntax);
    const rules = sum((part) => !isSyntax(part));
    const lines = [`${this.total} documents: ${this.accepted} accepted (${share(this.accepted)}), ${syntax} refused by syntax (${share(syntax)}), ${rules} refused by rules (${share(rules)})`];
    let last = "";
    MESSAGES.forEach(([part, pattern], at) => {
      const name = part.split(",")[0];
      if (name !== last) lines.push(`${String(sum((it) => it.split(",")[0] === name)).padStart(6)} ${name}`);
      last = name;
      lines.push(`${String(this.#counts[at]).padStart(14)}   ${pattern.source.slice(0, 110)}`);
    });
    return lines.join("\n");
  }

  // reasons to refuse a run: unknown messages; in a full run messages with less than `least` first
  // errors and too few accepted documents
  faults(least, isFull) {
    const rare = MESSAGES.flatMap(([part, pattern, options], at) => (isFull && !options?.isRare && this.#counts[at] < least ? [`only ${this.#counts[at]} first errors of ${part}: ${pattern.source}`] : []));
    const unknown = this.#unknown.slice(0, 10).map((message) => `message not in the table: ${message}`);
    const few = isFull && this.accepted < this.total / 4 ? [`only ${this.accepted} of ${this.total} documents are accepted`] : [];
    return [...rare, ...unknown, ...few];
  }
}
