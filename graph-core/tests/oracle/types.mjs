// Types of the generator: `{ of: type | name, list, nullable }`, printed as in SDL.

export const named = (of, nullable = false) => ({ of, list: false, nullable });
export const listOf = (of, nullable = false) => ({ of, list: true, nullable });
export const required = (type) => ({ ...type, nullable: false });
export const optional = (type) => ({ ...type, nullable: true });

export const nameOf = (type) => (type.list ? nameOf(type.of) : type.of);

export function print(type) {
  const inner = type.list ? `[${print(type.of)}]` : type.of;
  return type.nullable ? inner : `${inner}!`;
}

export function parse(text) {
  if (!text.endsWith("!")) return optional(parse(`${text}!`));
  const inner = text.slice(0, -1);
  return inner.startsWith("[") ? listOf(parse(inner.slice(1, -1))) : named(inner);
}

// `name_of_it` of Rust is `nameOfIt` in the schema
export const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
