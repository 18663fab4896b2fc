def good():
    return 1

def bad(:
    return good()

class Later:
    def method(self):
        return good()
