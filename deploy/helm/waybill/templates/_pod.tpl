{{/* The pod of a role. Takes root, component, role (its values), ports, and optionally env, volumes and mounts. */}}
{{- define "waybill.pod" -}}
{{- $values := .root.Values -}}
metadata:
  labels:
    {{- include "waybill.labels" . | nindent 4 }}
  annotations:
    # Restarts the pods when a setting changes.
    checksum/settings: {{ include "waybill.settings" .root | sha256sum }}
    {{- if not $values.secret.existing }}
    checksum/secret: {{ include "waybill.secretData" .root | sha256sum }}
    {{- end }}
    {{- with .role.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "waybill.serviceAccount" .root }}
  automountServiceAccountToken: false
  # Variables such as WAYBILL_PORT, which Kubernetes would add for the services, are no settings.
  enableServiceLinks: false
  # A node finishes its work in progress before it ends, within 30 seconds, after the pause of preStop.
  terminationGracePeriodSeconds: 45
  securityContext:
    {{- include "waybill.podSecurity" . | nindent 4 }}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  containers:
    - name: waybill
      image: {{ include "waybill.image" .root | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [start, --roles, {{ .component }}]
      envFrom:
        - configMapRef:
            name: {{ include "waybill.fullname" .root }}
        - secretRef:
            name: {{ include "waybill.secretName" .root }}
      {{- with .env }}
      env:
        {{- range $name, $value := . }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      {{- end }}
      ports:
        {{- range $name, $port := .ports }}
        - name: {{ $name }}
          containerPort: {{ $port }}
          protocol: TCP
        {{- end }}
        - name: metrics
          containerPort: 9464
          protocol: TCP
      # The schema is migrated before the port opens, also where the migration job is turned off.
      startupProbe:
        httpGet: { path: /healthz, port: metrics }
        periodSeconds: 2
        failureThreshold: 300
      livenessProbe:
        httpGet: { path: /healthz, port: metrics }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: metrics }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      lifecycle:
        preStop:
          # Time in which load balancers stop sending new connections.
          exec: { command: [sleep, "5"] }
      securityContext:
        {{- include "waybill.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .role.resources | nindent 8 }}
      volumeMounts:
        - name: data
          mountPath: /data
        - name: tmp
          mountPath: /tmp
        {{- with .mounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- with .role.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    # Holds nothing that lasts: all state is in Postgres.
    - name: data
      emptyDir: { sizeLimit: 64Mi }
    - name: tmp
      emptyDir: { sizeLimit: 256Mi }
    {{- with .volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with .role.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .role.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .role.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .role.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .role.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml .role.topologySpreadConstraints | nindent 4 }}
  {{- else }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "waybill.selector" . | nindent 10 }}
  {{- end }}
{{- end -}}

{{/* The deployment of a role, with the same parameters. */}}
{{- define "waybill.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "waybill.fullname" .root }}-{{ .component }}
  labels:
    {{- include "waybill.labels" . | nindent 4 }}
spec:
  {{- if not .role.autoscaling.enabled }}
  replicas: {{ .role.replicas }}
  {{- end }}
  # A node of the new release serves before one of the old release ends.
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels:
      {{- include "waybill.selector" . | nindent 6 }}
  template:
    {{- include "waybill.pod" . | nindent 4 }}
{{- end -}}
