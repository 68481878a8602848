const viewer = document.getElementById('viewer')
SwaggerUIBundle({
  domNode: viewer,
  url: viewer.dataset.document,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  requestInterceptor: request => {
    if (!request.loadSpec) request.headers['Berth-Contract'] = viewer.dataset.contract
    return request
  },
  persistAuthorization: false, // a key is not for the browser's storage
  tryItOutEnabled: true,
  validatorUrl: null, // asks no other server what it thinks of the document
})
