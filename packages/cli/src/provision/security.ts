import { join } from 'node:path'
import { repository, versions } from '../lib/paths.ts'
import { goTool } from './go-build.ts'
import type { Provisioned } from './options.ts'
import { pythonPackages } from './python.ts'

/** The module that holds gitleaks. */
export const gitleaksModule = `github.com/zricethezav/gitleaks/v8@v${versions.gitleaks}`

const list = (name: string) => join(repository, 'packages/cli/security', `${name}.txt`)

/** Sends requests that follow, and break, an OpenAPI document. */
export const schemathesisTool = (): Provisioned =>
  pythonPackages('schemathesis', list('schemathesis'), 'schemathesis: downloading 70 MB')

/** Looks for patterns in code. */
export const semgrepTool = (): Provisioned => pythonPackages('semgrep', list('semgrep'), 'semgrep: downloading 360 MB')

/** Looks for secrets in what git has, of every commit. */
export const gitleaksTool = (): Provisioned =>
  goTool('gitleaks', versions.gitleaks, 2, {
    module: gitleaksModule,
    package: '.',
    variables: { 'github.com/zricethezav/gitleaks/v8/version.Version': versions.gitleaks },
  })
