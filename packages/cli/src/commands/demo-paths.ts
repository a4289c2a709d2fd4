export const withId = (path: string, id: string): string => path.replaceAll('{id}', id)
