import { bundledPackages, installedPackages, type Locked } from "./lockedPackages.ts"
import { manifest } from "./Manifest.ts"

/** Lists the packages whose code is in the bundle or the dashboard, or is installed beside them, in CycloneDX 1.6. */
export const sbom = (): string => {
  const components = [
    ...bundledPackages().map((each) => component(each, "required")),
    ...installedPackages().map((each) => component(each, "optional")),
  ]
  const { name, version } = manifest
  const subject = { type: "application", "bom-ref": purl(name, version), name, version, purl: purl(name, version) }
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { ...subject, licenses: [{ license: { id: manifest.license } }] } },
    components,
    dependencies: [{ ref: purl(name, version), dependsOn: components.map((each) => each["bom-ref"]) }],
  }
  return `${JSON.stringify(document, undefined, 1)}\n`
}

const component = ({ integrity, license, name, version }: Locked, scope: "required" | "optional") => ({
  type: "library",
  "bom-ref": purl(name, version),
  name,
  version,
  scope,
  ...(integrity === undefined ? {} : { hashes: [{ alg: "SHA-512", content: hexOf(integrity) }] }),
  // An expression covers single licences too.
  ...(license === "" ? {} : { licenses: [{ expression: license }] }),
  purl: purl(name, version),
})

const purl = (name: string, version: string): string => `pkg:npm/${name.replace(/^@/u, "%40")}@${version}`

const hexOf = (integrity: string): string => Buffer.from(integrity.replace(/^sha512-/u, ""), "base64").toString("hex")
