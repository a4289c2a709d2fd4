/** An object of the contract with the names that its fields have in an API: `GivenName` is `givenName`. */
export type CamelCase<T> = { [K in keyof T as Uncapitalize<K & string>]: T[K] }

/** An object of an API with the names that its fields have in the contract. */
export type PascalCase<T> = { [K in keyof T as Capitalize<K & string>]: T[K] }

/** Renames the fields of an object of the contract for an API, not those of objects in it. */
export const camelCase = <T extends object>(object: T): CamelCase<T> =>
  renamed(object, camelCaseName) as unknown as CamelCase<T>

/** Renames the fields of an object of an API for the contract, not those of objects in it. */
export const pascalCase = <T extends object>(object: T): PascalCase<T> =>
  renamed(object, pascalCaseName) as unknown as PascalCase<T>

export const camelCaseName = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1)
const pascalCaseName = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)

const renamed = (object: object, rename: (name: string) => string) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [rename(name), value]))
