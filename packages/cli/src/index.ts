// The commands by name for documents, and the functions that put an application into a Git repository.

export { commandGroups } from './commands.ts'
export { checkClone, git, stage } from './upgrade/git.ts'
export { npmInstall } from './upgrade/run.ts'
