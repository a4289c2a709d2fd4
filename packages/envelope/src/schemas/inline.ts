/**
 * A field's schema with its references to common.json filled in, those of the rules that it refers to included. What
 * stands beside a reference counts more than what stands behind it.
 * @param shared the `$defs` of common.json
 */
export function inline<S extends object>(schema: S, shared: Record<string, S>): S {
  const { $ref, ...own } = schema as S & { $ref?: string }
  const target = shared[$ref?.split('/').at(-1) ?? '']
  return (target ? { ...inline(target, shared), ...own } : own) as S
}
