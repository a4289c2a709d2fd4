export { type ApplicationCopy, copyApplication, ownPackages } from './application-copy.ts'
export { type Ended, localOperator, type Operate, operatorOf, operatorSettings } from './local-operator.ts'
export { sourceFiles } from './source-files.ts'
export { openStores, type Stores } from './stores.ts'
