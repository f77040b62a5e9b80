import { readFileSync } from "node:fs"
import { parse as parseYaml } from "yaml"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CHART, type Helm, IS_AVAILABLE, unpack } from "./helm/Helm.ts"
import * as Manifests from "./Manifests.ts"

const NAMED = ["--set", "baseUrl=https://mail.example.com,secret.existing=waybill-secrets"]
const FULL = [
  "--set",
  "baseUrl=https://mail.example.com,secret.values.DATABASE_URL=postgres://db,secret.values.WAYBILL_INSTANCE_KEY=k",
  "--set",
  "smtp.enabled=true,smtp.tlsSecret=tls,smtp.smtps=true,smtp.reports=true",
  "--set",
  "ingress.enabled=true,ingress.hosts={mail.example.com},ingress.tlsSecret=tls,ingress.className=nginx",
  "--set",
  "settings.MAX_BODY_BYTES=20971520,settings.OTEL_TRACES_SAMPLER_ARG=0.25,settings.TRACKING_DOMAINS=true,settings.TRANSPARENCY=off",
  "--set-json",
  'networkPolicy.metricsFrom=[{"namespaceSelector":{}}]',
  "--set",
  "api.autoscaling.enabled=true,worker.autoscaling.enabled=true,smtp.autoscaling.enabled=true",
  "--set",
  "backup.enabled=true",
  "--set-json",
  'worker={"extraVolumes":[{"name":"rules","configMap":{"name":"rules"}}],"extraVolumeMounts":[{"name":"rules","mountPath":"/rules"}]}',
  "--set",
  "serviceMonitor.enabled=true,serviceMonitor.labels.release=prometheus,prometheusRule.enabled=true",
]

describe.skipIf(!IS_AVAILABLE)("the Helm chart", () => {
  let helm: Helm
  /** Manifests with each option on. */
  let full: ReadonlyArray<Manifests.Manifest>
  const render = async (...args: ReadonlyArray<string>) =>
    Manifests.parse(await helm.run("template", "mail", CHART, ...args))
  const refusal = (...args: ReadonlyArray<string>) =>
    render(...args).then(
      () => assert.fail("it was rendered"),
      (error: Error) => error.message,
    )

  beforeAll(async () => {
    helm = await unpack()
    full = await render(...FULL)
  })
  afterAll(() => helm.remove())

  it("is linted, and renders manifests that Kubernetes knows, with each option on and off", async () => {
    for (const values of [NAMED, FULL]) await helm.run("lint", "--strict", CHART, ...values)
    const few = await render(...NAMED)
    assert.strictEqual(await Manifests.problems(helm, [...few, ...full]), "")
    const deployment = full.find(({ kind }) => kind === "Deployment")
    const wrong = { ...deployment, spec: { ...deployment?.["spec"], replica: 1 } } as Manifests.Manifest
    assert.include(await Manifests.problems(helm, [wrong]), "'\"replica\"' does not exist")
    const named = (manifests: ReadonlyArray<Manifests.Manifest>) =>
      manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()
    assert.deepStrictEqual(named(few), [
      "ConfigMap mail-waybill",
      "Deployment mail-waybill-api",
      "Deployment mail-waybill-worker",
      "Job mail-waybill-migration",
      "NetworkPolicy mail-waybill-api",
      "NetworkPolicy mail-waybill-worker",
      "PodDisruptionBudget mail-waybill-api",
      "PodDisruptionBudget mail-waybill-worker",
      "Service mail-waybill",
      "ServiceAccount mail-waybill",
    ])
    assert.includeMembers(named(full), [
      "CronJob mail-waybill-backup",
      "Deployment mail-waybill-smtp",
      "HorizontalPodAutoscaler mail-waybill-api",
      "HorizontalPodAutoscaler mail-waybill-smtp",
      "HorizontalPodAutoscaler mail-waybill-worker",
      "Ingress mail-waybill",
      "NetworkPolicy mail-waybill-backup",
      "NetworkPolicy mail-waybill-smtp",
      "PersistentVolumeClaim mail-waybill-backup",
      "Secret mail-waybill",
      "PrometheusRule mail-waybill",
      "Secret mail-waybill-migration",
      "Service mail-waybill-metrics",
      "Service mail-waybill-smtp",
      "ServiceMonitor mail-waybill",
    ])
  })

  it("every pod runs without privileges, a token or a writable root, and names services by nothing but DNS", async () => {
    const pods = full.flatMap(({ kind, metadata, spec }) =>
      kind === "CronJob"
        ? [{ metadata, spec: spec.jobTemplate.spec }]
        : ["Deployment", "Job"].includes(kind)
          ? [{ metadata, spec }]
          : [],
    )
    assert.lengthOf(pods, 5)
    for (const { metadata, spec } of pods) {
      const pod = spec.template.spec
      assert.deepInclude(pod.securityContext, { runAsNonRoot: true, runAsUser: 1000 }, metadata.name)
      assert.deepInclude(pod, { automountServiceAccountToken: false, enableServiceLinks: false }, metadata.name)
      for (const { securityContext } of pod.containers)
        assert.deepStrictEqual(securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        })
    }
  })

  it("an autoscaler alone decides how many pods its deployment has", () => {
    const scaled = full.filter(({ kind }) => kind === "HorizontalPodAutoscaler")
    for (const { spec } of scaled) {
      const deployment = full.find(
        ({ kind, metadata }) => kind === spec.scaleTargetRef.kind && metadata.name === spec.scaleTargetRef.name,
      )
      assert.notProperty(deployment?.["spec"], "replicas")
      assert.property(deployment?.["spec"].template.spec.containers[0].resources.requests, "cpu")
    }
    assert.lengthOf(scaled, 3)
  })

  it("Prometheus reads the metrics of every pod, as the job that the alerts look for", () => {
    const of = (kind: string, name: string) =>
      full.find((each) => each.kind === kind && each.metadata.name === name) as Manifests.Manifest & {
        readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      }
    const service = of("Service", "mail-waybill-metrics")
    const monitor = of("ServiceMonitor", "mail-waybill")
    for (const { kind, spec } of full)
      if (kind === "Deployment") assert.deepInclude(spec.template.metadata.labels, service["spec"].selector)
    assert.deepInclude(service.metadata.labels, monitor["spec"].selector.matchLabels)
    assert.strictEqual(monitor["spec"].endpoints[0].port, service["spec"].ports[0].name)
    assert.strictEqual(monitor.metadata.labels["release"], "prometheus")
    assert.deepStrictEqual(monitor["spec"].endpoints[0].relabelings, [{ targetLabel: "job", replacement: "waybill" }])
    const [alerts] = parseYaml(readFileSync("docs/operating/alerts.yaml", "utf8")).groups
    assert.deepStrictEqual(of("PrometheusRule", "mail-waybill")["spec"].groups, [alerts])
  })

  it("ports of services, probes and policies are ports of the pods", async () => {
    const portsOf = (component: string): ReadonlyArray<string> =>
      full
        .find(({ kind, metadata }) => kind === "Deployment" && metadata.name === `mail-waybill-${component}`)
        ?.["spec"].template.spec.containers[0].ports.map(({ name }: { name: string }) => name) ?? []
    const componentsOf = ({ kind, spec }: Manifests.Manifest): ReadonlyArray<string> => {
      const labels = kind === "Service" ? spec.selector : spec.podSelector.matchLabels
      return [labels["app.kubernetes.io/component"] ?? ["api", "worker", "smtp"]].flat()
    }
    const used = full.flatMap((manifest) => {
      if (manifest.kind !== "Service" && manifest.kind !== "NetworkPolicy") return []
      const rules: ReadonlyArray<{ readonly ports: ReadonlyArray<object> }> =
        manifest.kind === "Service" ? [manifest["spec"]] : manifest["spec"].ingress
      const ports = rules.flatMap((rule) => rule.ports) as ReadonlyArray<{ port: string; targetPort?: string }>
      return componentsOf(manifest).flatMap((component) =>
        ports.map(({ port, targetPort = port }) => ({ component, port: targetPort })),
      )
    })
    assert.isAbove(used.length, 8)
    for (const { component, port } of used) assert.include(portsOf(component), port, component)
    for (const component of ["api", "worker", "smtp"]) assert.include(portsOf(component), "metrics")
  })

  it("the schema is migrated before the release's own objects exist", async () => {
    const hooks = full.filter(({ metadata }) => metadata.name === "mail-waybill-migration")
    for (const { metadata } of hooks)
      assert.strictEqual(metadata.annotations?.["helm.sh/hook"], "pre-install,pre-upgrade")
    const [secret, job] = hooks.toSorted((one, other) => other.kind.localeCompare(one.kind))
    const weight = (manifest: Manifests.Manifest | undefined) =>
      Number(manifest?.metadata.annotations?.["helm.sh/hook-weight"])
    assert.isBelow(weight(secret), weight(job))
    assert.deepStrictEqual(job?.["spec"].template.spec.containers[0].args, ["migrate"])
    assert.strictEqual(job?.["spec"].template.spec.serviceAccountName, "default")
  })

  it("a secret is in no ConfigMap, and in no pod's own text", async () => {
    const holders = (secret: string) =>
      full.flatMap((each) => (JSON.stringify(each).includes(secret) ? [`${each.kind} ${each.metadata.name}`] : []))
    const encoded = Buffer.from("postgres://db").toString("base64")
    for (const secret of ["postgres://db", encoded])
      assert.deepStrictEqual(
        holders(secret).filter((holder) => !holder.startsWith("Secret ")),
        [],
      )
    assert.isAbove(holders("postgres://db").length + holders(encoded).length, 1)
  })

  it("a backup has its time in its name, and lies on a claim of the chart or of the operator", async () => {
    const jobOf = (manifests: ReadonlyArray<Manifests.Manifest>) =>
      manifests.find(({ kind }) => kind === "CronJob")?.["spec"].jobTemplate.spec.template.spec
    const { containers, volumes } = jobOf(full)
    assert.match(containers[0].command[2], /^waybill backup --to "\/backups\/waybill-\$\(date .*head -n -7 \|/su)
    assert.deepStrictEqual(volumes[0].persistentVolumeClaim, { claimName: "mail-waybill-backup" })
    const own = await render(...NAMED, "--set", "backup.enabled=true,backup.existingClaim=mine")
    assert.deepStrictEqual(jobOf(own).volumes[0].persistentVolumeClaim, { claimName: "mine" })
    assert.notInclude(
      own.map(({ kind }) => kind),
      "PersistentVolumeClaim",
    )
  })

  it("files of the operator are in the pods of the role that names them", () => {
    const mountsOf = (component: string): ReadonlyArray<string> =>
      full
        .find(({ kind, metadata }) => kind === "Deployment" && metadata.name === `mail-waybill-${component}`)
        ?.["spec"].template.spec.containers[0].volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)
    assert.deepStrictEqual(mountsOf("worker"), ["/data", "/tmp", "/rules"])
    assert.deepStrictEqual(mountsOf("api"), ["/data", "/tmp"])
  })

  it("a number is written as it was set, and a switch as the service knows it", async () => {
    const settings = full.find(({ kind }) => kind === "ConfigMap")
    assert.deepInclude(settings?.["data"], {
      MAX_BODY_BYTES: "20971520",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      // In a file of values, YAML reads `on` as true.
      TRACKING_DOMAINS: "on",
      TRANSPARENCY: "off",
      BASE_URL: "https://mail.example.com",
    })
  })

  it.each([
    [["--set", "secret.existing=s"], /baseUrl is missing: the address that clients use/u],
    [["--set", "baseUrl=https://a.b"], /DATABASE_URL is missing: name a Secret in secret\.existing/u],
    [["--set", "baseUrl=https://a.b,secret.values.DATABASE_URL=x"], /WAYBILL_INSTANCE_KEY is missing/u],
    [[...NAMED, "--set", "smtp.enabled=true"], /smtp\.tlsSecret is missing: without a certificate/u],
    [[...NAMED, "--set", "smtp.enabled=true,smtp.reports=true,smtp.smtps=true"], /smtp\.smtps needs smtp\.tlsSecret/u],
    [[...NAMED, "--set", "ingress.enabled=true"], /ingress\.hosts is empty/u],
    [[...NAMED, "--set", "settings.TRANSPROT=relay"], /TRANSPROT/u],
    [[...NAMED, "--set", "settings.PORT=80"], /'PORT'/u],
    [[...NAMED, "--set", "settings.BACKUP_TO=/data"], /BACKUP_TO has no place in pods.*use backup\.enabled/su],
    [[...NAMED, "--set", "settings.TRANSPORT=smtp"], /TRANSPORT.*'sandbox', 'relay', 'direct', 'nodemailer'/su],
    [[...NAMED, "--set", "settings.TRANSPARENCY=no"], /TRANSPARENCY.*'on', 'off'/su],
    [[...NAMED, "--set", "api.autoscaling.enabled=true,api.autoscaling.minReplicas=20"], /minReplicas is above/u],
    [[...NAMED, "--set", "serviceMonitor.interval=often"], /interval/u],
    [[...NAMED, "--set", "settings.SMTP_URL=smtp://u:p@relay"], /'SMTP_URL'/u],
    [[...NAMED, "--set", "replicas=3"], /replicas/u],
  ])("%j is refused with the reason", async (args, reason) => {
    assert.match(await refusal(...args), reason)
  })
})
