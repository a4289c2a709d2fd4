/** Returns the name of a call in the index of deadlines. @param target the name of the system that is called */
export const indexNameOf = (call: string, { target }: { target: string }): string => `call/${target}/${call}`

/** Returns the call with this name in the index of deadlines; undefined for a deadline. */
export function callIn(indexName: string): { target: string; name: string } | undefined {
  const [, target = '', name = ''] = /^call\/([^/]*)\/(.*)$/.exec(indexName) ?? []
  return name ? { target, name } : undefined
}
