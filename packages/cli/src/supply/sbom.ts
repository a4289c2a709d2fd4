import { everyStackImage } from '../lib/images.ts'
import { versions } from '../lib/paths.ts'
import { hashes } from '../provision/hashes.ts'
import { licenseOf } from './licenses.ts'
import { type LockedPackage, readLock, shippedPackages } from './lock.ts'

/** A CycloneDX bill of what runs: npm's packages in our images, others' images, and what runs as processes without them. */
export function sbom(): object {
  const components = [
    ...shippedPackages(readLock()).map(npmComponent),
    ...everyStackImage.map(imageComponent),
    goComponent('github.com/dapr/dapr', `v${versions.dapr}`),
    ...Object.entries(hashes)
      .filter(([name]) => name.endsWith('.jar'))
      .map(jarComponent),
  ]
  const component = { type: 'application', name: 'orderflow', 'bom-ref': 'orderflow' }
  return { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata: { component }, components }
}

function npmComponent(each: LockedPackage) {
  const purl = `pkg:npm/${each.name.replace('@', '%40')}@${each.version}`
  const license = licenseOf(each)
  return {
    type: 'library',
    // The same version may be installed in two places.
    'bom-ref': each.path,
    name: each.name,
    version: each.version,
    purl,
    hashes: sha512(each.integrity),
    ...(license && { licenses: [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }] }),
  }
}

function imageComponent(image: string) {
  const [name, version] = image.split(':')
  return { type: 'container', 'bom-ref': image, name, version, purl: `pkg:docker/${name}@${version}` }
}

function goComponent(name: string, version: string) {
  const purl = `pkg:golang/${name}@${version}`
  return { type: 'application', 'bom-ref': purl, name, version, purl }
}

function jarComponent([name, hash]: [string, string]) {
  return { type: 'file', 'bom-ref': name, name, hashes: sha512(hash) }
}

function sha512(integrity: string) {
  return [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }]
}
