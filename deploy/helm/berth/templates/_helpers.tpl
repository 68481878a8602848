{{- define "berth.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "berth.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "berth.labels" -}}
{{ include "berth.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "berth.key" -}}
{{ .Values.secretKey.existingSecret | default (printf "%s-key" (include "berth.name" .)) }}
{{- end -}}

{{- /* The name of the port that clients reach, which says what is spoken there. */ -}}
{{- define "berth.port" -}}
{{ ternary "https" "http" (ne .Values.tls.existingSecret "") }}
{{- end -}}

{{- define "berth.podNamespace" -}}
{{ .Values.kubernetes.namespace | default .Release.Namespace }}
{{- end -}}

{{- define "berth.publicURL" -}}
{{- if .Values.publicURL -}}
{{- .Values.publicURL -}}
{{- else if .Values.ingress.enabled -}}
{{- printf "%s://%s" (ternary "https" "http" (ne .Values.ingress.tlsSecret "")) .Values.ingress.host -}}
{{- end -}}
{{- end -}}
