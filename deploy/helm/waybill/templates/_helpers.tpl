{{- define "waybill.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "waybill.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "waybill.labels" -}}
{{ include "waybill.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "waybill.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "waybill.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "waybill.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{- define "waybill.secretName" -}}
{{- if .Values.secret.existing -}}
{{ .Values.secret.existing }}
{{- else -}}
{{ include "waybill.fullname" . }}
{{- end -}}
{{- end -}}

{{/* Secret settings of the values, which must have the two that every node needs. */}}
{{- define "waybill.secretData" -}}
{{- $advice := "is missing: name a Secret in secret.existing, or set it in secret.values" -}}
{{- $_ := required (printf "DATABASE_URL %s" $advice) .Values.secret.values.DATABASE_URL -}}
{{- $_ := required (printf "WAYBILL_INSTANCE_KEY %s" $advice) .Values.secret.values.WAYBILL_INSTANCE_KEY -}}
{{- range $name, $value := .Values.secret.values }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* A setting as text. YAML reads `on` as true, and Helm every number as a float, which would print 10485760 as 1.048576e+07. */}}
{{- define "waybill.text" -}}
{{- if kindIs "bool" . -}}
{{ ternary "on" "off" . | quote }}
{{- else if and (kindIs "float64" .) (eq (floor .) .) -}}
{{ int64 . | toString | quote }}
{{- else -}}
{{ toString . | quote }}
{{- end -}}
{{- end -}}

{{/* Settings that are the same for all roles. */}}
{{- define "waybill.settings" -}}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ include "waybill.text" $value }}
{{- end }}
BASE_URL: {{ required "baseUrl is missing: the address that clients use, such as https://mail.example.com" .Values.baseUrl | quote }}
HOST: "0.0.0.0"
PORT: "3025"
METRICS_HOST: "0.0.0.0"
METRICS_PORT: "9464"
WAYBILL_DATA: /data
{{- end -}}

{{- define "waybill.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "waybill.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
