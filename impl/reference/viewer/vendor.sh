#!/usr/bin/env bash
# Takes the viewer's files from the package that package-lock.json names, and compresses them beside this script; with --check it
# changes nothing and fails if they are others. What is inside is compared: compressors differ.
set -euo pipefail
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp package.json package-lock.json "$tmp"
if ! (cd "$tmp" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null); then # its script would report to its makers
	if [ "${1:-}" != --check ]; then exit 1; fi
	echo "SKIPPED: npm cannot fetch the viewer to compare with"
	exit
fi
package=$tmp/node_modules/swagger-ui-dist
{
	echo '<!doctype html><html lang="en"><meta charset="utf-8"><title>berth: licenses of the viewer</title><link rel="icon" href="data:,">'
	echo '<pre>The viewer is Swagger UI. Its license and notice, and those of what is built into it:'
	for part in LICENSE NOTICE swagger-ui-bundle.js.LICENSE.txt; do
		printf '\n\n=== %s\n\n' "$part"
		sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' "$package/$part"
	done
	echo '</pre></html>'
} >"$package/licenses.html"
# The map that the last line of each names is not vendored: a browser's tools would ask for it in vain.
for file in swagger-ui-bundle.js swagger-ui.css licenses.html; do
	sed -E -e '\,^//# sourceMappingURL=,d' -e 's,/\*# sourceMappingURL=[^*]*\*/,,' "$package/$file" >"$tmp/$file"
	if [ "${1:-}" != --check ]; then
		gzip -9 -n -c "$tmp/$file" >"$file.gz"
	elif ! gzip -d -c "$file.gz" | cmp -s - "$tmp/$file"; then
		echo "$file.gz is not what package-lock.json gives: run make viewer and commit"
		exit 1
	fi
done
