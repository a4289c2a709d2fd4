/** The folder of the guides, relative to the application's folder. An application has the guides as a part of this package. */
const guidesFolder = import.meta.dirname.includes('/node_modules/') ? 'node_modules/@orderflow/cli/docs' : 'docs'

/**
 * Returns a message with the paths at which its guides exist. Messages name guides as in our repository, for example `docs/trust.md`. An upgrade uses
 * this module before npm packages are installed, so it imports nothing.
 */
export function withGuidePaths(text: string, folder = guidesFolder): string {
  return text.replaceAll(/(?<![\w./-])docs(?=\/[\w.-]+\.md\b)/g, folder)
}
